"""The figure of attacks, and its table."""

import math
import re

import attacked
import numpy as np
import pandas as pd
import pytest
import synthetic
from plotted import below
from sklearn import metrics
from synthetic import cell, study

from dpfl.attacks.membership import ATTACKS, comparable
from dpfl.figures.kinds import membership as figure
from dpfl.tables import attacks

SEEDS = 6


@pytest.fixture
def made(tmp_path):
    """A study of a certified and an uncertified method, with what its models say."""
    cells = [cell(m, e, SEEDS) for m in ("dpsgd", "fsdp") for e in (8.0, math.inf)]
    runs = tmp_path / "runs"
    outcomes = {("fsdp", 8.0): {"eps_certified": None}}
    synthetic.write(runs, cells, lambda c, s: outcomes.get((c["method"], c["epsilon"]), {}))
    cells[3]["runs"] = cells[1]["runs"]  # without privacy both methods are one
    own = study(cells, name="doe2024/membership")
    return own, runs, attacked.write(runs, own, gain=1.0)


def panels(own, runs):
    return {ax.get_title("left"): ax for ax in figure.draw(own, runs).figure.axes}


def test_a_panel_stands_for_each_distinct_cell_and_names_what_is_not_certified(made):
    own, runs, _ = made
    assert list(panels(own, runs)) == [
        "DP-SGD\nε = 8",
        "DP-SGD = fsdp\nnon-private (ε = ∞)",
        "fsdp (not certified)\nε = 8",
    ]


def test_a_line_is_the_mean_of_the_targets_roc(made):
    own, runs, seen = made
    ax = panels(own, runs)["fsdp (not certified)\nε = 8"]
    _, line, *_ = ax.lines  # the diagonal is first
    rates, found = line.get_data()
    where = comparable(seen.members[2 * SEEDS : 3 * SEEDS])
    curves = []
    for target in range(SEEDS):
        row = 2 * SEEDS + target
        members = seen.members[row, where[target]]
        curves.append(metrics.roc_curve(members, seen.confidences[row, where[target]])[:2])
    for rate in (0.05, 0.5, 1.0):
        nearest = np.argmin(abs(np.log(rates / rate)))
        expected = [max(t for f, t in zip(*c, strict=True) if f <= rates[nearest]) for c in curves]
        assert found[nearest] == pytest.approx(np.mean(expected))
    assert np.isnan(found[rates < 1 / 400]).all()
    assert ax.get_xscale() == ax.get_yscale() == "log"
    assert ax.lines[0].get_xdata().tolist() == ax.lines[0].get_ydata().tolist()


def test_every_attack_has_its_area_and_its_rates_beneath(made):
    own, runs, _ = made
    table = attacks.summary(own, runs).set_index(["label", "epsilon", "attack"])
    ax = panels(own, runs)["DP-SGD\nε = 8"]
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [re.split(r" {2,}| 0\.", text)[0] for text in texts] == list(ATTACKS)
    for text, attack in zip(texts, ATTACKS, strict=True):
        row = table.loc[("dpsgd", 8.0, attack)]
        area, low, high = text[20:].split()
        assert float(area) == pytest.approx(row["auc_mean"], abs=0.0005)
        assert low == "–"  # 200 non-members cannot show one in a thousand
        assert float(high.rstrip("%")) == pytest.approx(100 * row["tpr_at_1_pct_mean"], abs=0.005)


def test_the_table_has_mean_and_ends_of_the_targets(made, tmp_path):
    own, runs, seen = made
    figure.tabulate(own, runs, tmp_path / "table")
    table = pd.read_csv(tmp_path / "table.csv")
    assert len(table) == 3 * len(ATTACKS)
    row = table[(table["label"] == "dpsgd") & (table["attack"] == "loss threshold")].iloc[0]
    where = comparable(seen.members[:SEEDS])
    areas = [
        metrics.roc_auc_score(m[w], c[w])
        for m, c, w in zip(seen.members, seen.confidences, where, strict=False)
    ]
    assert row["auc_mean"] == pytest.approx(np.mean(areas))
    assert (row["auc_low"], row["auc_high"]) == pytest.approx((min(areas), max(areas)))
    assert row["targets"] == SEEDS and row["study"] == "doe2024/membership"
    least = min((w & ~m).sum() for m, w in zip(seen.members, where, strict=False))
    assert row["strangers"] == least and math.isnan(row["tpr_at_0.1_pct_mean"])
    assert not table[table["label"] == "fsdp"]["certified"].any()
    shown = (tmp_path / "table.md").read_text(encoding="utf-8")
    assert "fsdp (not certified)" in shown and "dpsgd = fsdp" in shown


@pytest.mark.parametrize(("failed", "told"), [((1,), True), ((0, 1, 2), False)])
def test_runs_that_failed_are_neither_target_nor_reference(made, failed, told):
    """Every number is that of a study which never had these seeds."""
    own, runs, _ = made
    cells = own["cells"][:1]
    for seed in failed:
        run = cells[0]["runs"][seed]
        synthetic.write_run(runs / run, run, cells[0], seed, accuracy=0.1)
    left = [seed for seed in range(SEEDS) if seed not in failed]
    rest = {key: [cells[0][key][seed] for seed in left] for key in ("runs", "seeds")}
    found = attacks.summary(own | {"cells": cells}, runs)
    assert len(found) == len(ATTACKS) * told
    drawn = figure.draw(own | {"cells": cells}, runs)
    if not told:
        assert "too few runs trained" in drawn.figure.axes[0].texts[0].get_text()
        return
    expected = attacks.summary(own | {"cells": [cells[0] | rest]}, runs)
    pd.testing.assert_frame_equal(found, expected)
    assert set(found["targets"]) == {SEEDS - 1}
    assert "1 run that failed: neither" in below(drawn.figure)
