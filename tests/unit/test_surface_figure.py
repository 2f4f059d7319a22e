"""The figure of a surface over two numbers, with its lines of equal epsilon."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from matplotlib.axes import Axes
from plotted import INF, compare
from synthetic import cell, study

from dpfl.figures.kinds import _cost, surface
from dpfl.privacy import accounting


def clip_and_noise(tmp_path: Path, epsilons: tuple = (8.0,), **outcome):
    """Write a surface of clip norm and noise; the noisier, the longer the budget lasts."""
    pairs = [(c, z) for c in (0.1, 1.0, 10.0) for z in (0.5, 2)]
    cells = [cell("sgd", e, 2, clip_norm=c, noise_multiplier=z) for c, z in pairs for e in epsilons]

    def default(own: dict, seed: int) -> dict:
        variant = own["variant"]
        short = variant["noise_multiplier"] == 0.5
        return {
            "accuracy": 0.8 + 0.01 * math.log10(variant["clip_norm"]) + 0.002 * seed + 0.1 * short,
            "rounds": 1 + seed if short else 4,
            "diverged": variant == {"clip_norm": 10.0, "noise_multiplier": 2},
        } | outcome

    synthetic.write(tmp_path, cells, default)
    return study(cells, kind="variants", title="A surface")


def notes(ax: Axes) -> dict[tuple, list[str]]:
    """The texts of an axes by the place they belong to, labels of lines left out."""
    found: dict[tuple, list[str]] = {}
    for text in ax.texts:
        if hasattr(text, "xy"):
            found.setdefault(tuple(text.xy), []).append(text.get_text())
    return found


def contours(ax: Axes) -> dict[float, np.ndarray]:
    """The lines of equal epsilon: level, points [n, 2]."""
    [drawn] = [c for c in ax.collections if hasattr(c, "levels")]
    return {
        level: np.concatenate(lines)
        for level, lines in zip(drawn.levels, drawn.allsegs, strict=True)
        if lines
    }


def test_surface_shows_means_and_how_far_the_budget_went(tmp_path: Path) -> None:
    figure = surface.draw(clip_and_noise(tmp_path), tmp_path).figure
    ax = figure.axes[0]
    found = notes(ax)
    assert found[0.1, 0.5] == ["89.1", "■ 1–2/4"]
    assert found[1.0, 2.0] == ["80.1", ""]
    assert found[10.0, 2.0] == ["", "× 2 of 2 failed"]
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["0.1", "1", "10"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("clip norm", "noise multiplier")
    mesh = ax.collections[0]
    assert mesh.get_array().shape == (2, 3)
    shown = np.ma.filled(np.ma.masked_invalid(mesh.get_array()), -1).ravel()
    assert shown == pytest.approx([89.1, 90.1, 91.1, 79.1, 80.1, -1])
    assert mesh.norm.vmin == pytest.approx(np.quantile([89.1, 90.1, 91.1, 79.1, 80.1], 0.1))


def test_lines_of_a_noise_surface_price_all_planned_rounds(tmp_path: Path) -> None:
    ax = surface.draw(clip_and_noise(tmp_path), tmp_path).figure.axes[0]
    # mnist over ten clients: 6000 examples each, 93 steps a round, four rounds.
    ends = np.log([accounting.epsilon(64 / 6000, z, 4 * 93, 1e-5) for z in (0.5, 2)])
    found = contours(ax)
    assert len(found) >= 2
    for level, points in found.items():
        assert points[:, 0].min() == pytest.approx(0.1) and points[:, 0].max() == pytest.approx(10)
        share = (math.log(level) - ends[0]) / (ends[1] - ends[0])
        height = 0.5 * 4**share  # where log epsilon is straight in log z
        assert points[:, 1] == pytest.approx(np.full(len(points), height), rel=0.02)


def test_lines_of_another_surface_price_plans_at_the_noise_of_the_middle(tmp_path: Path) -> None:
    pairs = [(r, b) for r in (2, 4) for b in (300, 600)]
    cells = [cell("sgd", 8.0, 1, rounds=r, batch_size=b) for r, b in pairs]
    noise = {(4, 600): 2.0}
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {
            "rounds": c["variant"]["rounds"],
            "noise": lambda t: noise.get(tuple(c["variant"].values()), 9.0),
        },
    )
    made = study(cells, kind="variants")
    ax = surface.draw(made, tmp_path).figure.axes[0]
    low = accounting.epsilon(300 / 6000, 2.0, 2 * 20, 1e-5)
    high = accounting.epsilon(600 / 6000, 2.0, 4 * 10, 1e-5)
    found = contours(ax)
    assert found and all(low < level < high for level in found)
    assert {text for own in notes(ax).values() for text in own[1:]} == {""}


@pytest.mark.parametrize("left_out", [[(1.0, 2)], [(0.1, 0.5), (10.0, 2)], [(0.1, 2), (1.0, 2)]])
def test_cells_that_a_study_leaves_out_have_neither_number_nor_price(tmp_path, left_out) -> None:
    whole = clip_and_noise(tmp_path)
    there = [c for c in whole["cells"] if tuple(c["variant"].values()) not in left_out]
    ax = surface.draw(whole | {"cells": there}, tmp_path).figure.axes[0]
    expected = set(notes(surface.draw(whole, tmp_path).figure.axes[0])) - set(left_out)
    assert set(notes(ax)) == expected
    assert np.ma.masked_invalid(ax.collections[0].get_array()).mask.sum() >= len(left_out)


def test_a_surface_of_one_line_of_cells_has_no_lines_of_epsilon(tmp_path: Path) -> None:
    whole = clip_and_noise(tmp_path)
    quiet = [c for c in whole["cells"] if c["variant"]["noise_multiplier"] == 2]
    named = [c | {"label": "a", "method": "a"} for c in quiet]
    both = whole | {"cells": whole["cells"] + named}
    axes = surface.draw(both, tmp_path).figure.axes
    assert [len(notes(ax)) for ax in axes[:2]] == [6, 3]
    assert [bool(levels(ax)) for ax in axes[:2]] == [True, False]


def levels(ax: Axes) -> list:
    return [c for c in ax.collections if hasattr(c, "levels")]


@pytest.mark.parametrize("left_out", [None, (2, 300), (4, 600)])
def test_a_middle_that_is_left_out_is_priced_at_the_noise_beside_it(left_out) -> None:
    plan = {
        (r, b): _cost.PlannedSteps(b / 6000, r, float(r + b)) for r in (2, 4) for b in (300, 600)
    }
    rows = [
        {"rounds": r, "batch_size": b, "plan": own, "delta": 1e-5} for (r, b), own in plan.items()
    ]
    cells = pd.DataFrame([row for row in rows if (row["rounds"], row["batch_size"]) != left_out])
    found = _cost.costs(cells, ["rounds", "batch_size"])
    noise = {None: 604.0, (2, 300): 604.0, (4, 600): 602.0}[left_out]
    assert found.loc[300, 4] == accounting.epsilon(300 / 6000, noise, 4, 1e-5)
    assert left_out is None or np.isnan(found.loc[left_out[1], left_out[0]])


def test_a_surface_of_whole_clients_prices_the_servers_rounds(tmp_path: Path) -> None:
    summary = {
        "settings": {
            "unit": "client",
            "partition": {"clients": 400},
            "federation": {"clients_per_round": 20, "rounds": 30},
        },
        "noise_multipliers": {"clients": {"server": [1.5] * 30}},
    }
    plan = _cost.plan_of(summary)
    assert (plan.sample_rate, plan.steps, plan.noise_multiplier) == (0.05, 30, 1.5)
    assert plan.epsilon(1.5, 1e-5) == accounting.epsilon(0.05, 1.5, 30, 1e-5)


def test_a_surface_without_privacy_has_no_lines(tmp_path: Path) -> None:
    [ax, _] = surface.draw(clip_and_noise(tmp_path, (INF,)), tmp_path).figure.axes
    assert ax.get_title("left") == "non-private (ε = ∞)"
    assert not [c for c in ax.collections if hasattr(c, "levels")]


def test_a_surface_needs_two_numbers(tmp_path: Path) -> None:
    [ax] = surface.draw(compare(tmp_path, seeds=1), tmp_path).figure.axes
    assert "a surface needs two numbers" in ax.texts[0].get_text()


@pytest.mark.parametrize(
    ("low", "high", "budget", "expected"),
    [
        (1.0, 10.0, 8.0, [1.5, 2, 3, 5, 7, 8]),
        (0.1, 1000, 8.0, [0.15, 0.7, 3, 8, 15, 70, 300]),
        (2.1, 2.9, 8.0, [2.47]),
        (4.0, 4.8, 4.4, [4.4]),
        (1.0, 2.0, 1.01, [1.5]),  # a line that cuts off a corner is left out
    ],
)
def test_levels_are_few_and_round(low: float, high: float, budget: float, expected: list) -> None:
    assert _cost.levels(low, high, budget) == expected
