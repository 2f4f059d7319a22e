"""Figures of paired differences, with the seeds behind verdicts, and of what audits found."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import synthetic
from matplotlib.axes import Axes
from plotted import INF, below, draw, lines, marks, segments, ticks
from synthetic import audit, cell, study

from dpfl.figures import looks
from dpfl.figures.kinds import differences
from dpfl.judging.evidence import Evidence
from dpfl.judging.judge import judge
from dpfl.tables import results

SEEDS = 5
AHEAD = {"sgd": 0.02, "adam": -0.01}
"""By how much CAdabelief is ahead, as fractions."""
ABOUT = dict.fromkeys(("where", "quote", "translation"), "")
CLAIM = ABOUT | {
    "id": "beats-both",
    "kind": "ordering",
    "study": "main",
    "better": "cadabelief",
    "worse": ["sgd", "adam"],
}


def accuracy(own: dict, seed: int) -> float:
    noise = np.random.default_rng([seed, len(own["method"])]).normal(0, 0.003)
    return 0.9 - AHEAD.get(own["method"], 0) + noise


def ran(home: Path, cells: list[dict], lost: tuple = ()) -> tuple[dict, Path]:
    """A study and its runs, of which those of some methods and seeds failed."""
    runs = home / "runs"
    synthetic.write(
        runs, cells, lambda c, s: {"accuracy": 0.1 if (c["method"], s) in lost else accuracy(c, s)}
    )
    return study(cells, name="doe2024/main", paper="doe2024", demonstrates=False), runs


@pytest.fixture
def made(tmp_path: Path):
    """A study, its runs, and the judged rows of the claim, as the workflow lays them out."""
    cells = [cell(m, e, SEEDS) for m in ("cadabelief", "sgd", "adam") for e in (2.0, 8.0)]
    cells[1]["published"], cells[3]["published"] = [{"value": 95.0}], [{"value": 93.5}]
    own, runs = ran(tmp_path, cells)
    return own, runs, write(own, runs, CLAIM)


def write(own: dict, runs: Path, *claims: dict) -> pd.DataFrame:
    """Judge claims; return the rows that compare two cells at one epsilon."""
    frame = results.frame(own, runs)
    evidence = Evidence("doe2024", own, frame, lambda: None, pd.DataFrame(), {}, [])
    judged = pd.concat([judge(claim, evidence) for claim in claims], ignore_index=True)
    path = runs.parent / "claims" / "doe2024" / "claims.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    judged.to_csv(path, index=False)
    return judged[judged["epsilon"].notna() & (judged["part"] != "overall")]


def test_a_row_shows_the_interval_and_the_verdict_and_the_pairs_of_seeds(made):
    own, runs, parts = made
    (ax,) = differences.draw(own | {"margin": 3.0}, runs).figure.axes
    assert len(parts) == 4
    bars = np.array([bar[:, 0] for bar in segments(ax)])
    assert bars == pytest.approx(parts[["difference_low", "difference_high"]].to_numpy())
    cells = {m: {"method": m} for m in ("cadabelief", "sgd")}
    pairs = [100 * (accuracy(cells["cadabelief"], s) - accuracy(cells["sgd"], s)) for s in range(5)]
    assert sorted(marks(ax, "_seeds")[:SEEDS, 0]) == pytest.approx(sorted(pairs), abs=1e-6)
    assert marks(ax, "_beats-both, SGD, ε = 2")[:, 0] == pytest.approx([np.mean(pairs)])
    verdicts = [f"{v}; n = {SEEDS}" for v in parts["verdict"]]
    assert [t.get_text() for t in ax.texts] == ["CAdabelief against SGD and Adam", *verdicts]
    assert {"holds", "opposite"} <= set(parts["verdict"])
    assert ticks(ax.yaxis) == ["SGD, ε = 2", "SGD, ε = 8", "Adam, ε = 2", "Adam, ε = 8"]
    (band,) = [patch for patch in ax.patches if patch.get_label() == "_margin"]
    assert (band.get_x(), band.get_width()) == pytest.approx((-1.5, 3.0))
    assert marks(ax, "_printed")[:, 0] == pytest.approx([1.5])


def test_failed_seeds_are_in_no_pair(tmp_path: Path):
    cells = [cell(m, 2.0, SEEDS) for m in ("cadabelief", "sgd", "adam")]
    own, runs = ran(tmp_path, cells, (("sgd", 1), ("adam", 3)))
    write(own, runs, CLAIM)
    drawn = differences.draw(own, runs)
    assert [len(seeds.split()) for seeds in drawn.data["seeds"]] == [4, 4]
    assert marks(drawn.figure.axes[0], "_beats-both, SGD, ε = 2")[0, 0] > 0
    assert "Runs that failed are in no pair" in below(drawn.figure)


CLAIMS = (2.0, 4.0, 8.0)
AUDITED = {
    "sgd": lambda e, s: {"audit": audit((0.8 + 0.03 * s) * e, 0.98 * e)},
    "fsdp": lambda e, s: {"eps_certified": None, "audit": audit([4.4, 4.86, 0.01][s], 4.86)},
    "silent": lambda e, s: {},
}
CELLS = [cell(m, e, 3) for m in AUDITED for e in CLAIMS] + [cell("sgd", INF, 1)]


def audited(tmp_path: Path, **outcomes) -> Axes:
    given = AUDITED | outcomes

    def outcome(own: dict, seed: int) -> dict:
        return {} if own["epsilon"] == "inf" else given[own["method"]](own["epsilon"], seed)

    return draw("audit", tmp_path, CELLS, outcome).figure.axes[0]


def columns(line) -> list[float]:
    """The claim whose column each mark of a line stands in."""
    return [min(CLAIMS, key=lambda e: abs(math.log(x / e))) for x in line.get_xdata()]


def test_audit_marks_the_largest_bound_of_each_claim_in_its_column(tmp_path: Path) -> None:
    ax = audited(tmp_path)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    sgd, fsdp = (lines(ax)[name] for name in ("SGD", "fsdp (refuted at ε 2, 4)"))
    assert sgd.get_ydata() == pytest.approx([0.86 * e for e in CLAIMS])
    assert fsdp.get_ydata() == pytest.approx([4.86] * 3)
    assert columns(sgd) == columns(fsdp) == [*CLAIMS]
    assert all(sgd.get_xdata() < fsdp.get_xdata())
    assert fsdp.get_markerfacecolor() == "white" != sgd.get_markerfacecolor()
    assert sgd.get_color() == looks.of_study(study(CELLS))["sgd"].colour
    assert "No bound: silent" in below(ax.figure)


def test_audit_shows_seeds_ceilings_and_what_is_refuted(tmp_path: Path) -> None:
    ax = audited(tmp_path)
    found = lines(ax)
    least = ax.get_ylim()[0]
    seeds = found["_seeds of fsdp (refuted at ε 2, 4)"].get_ydata()
    assert len(seeds) == 9 and set(seeds[:2]) == {4.4, 4.86} and seeds[2] >= least > 0.01
    assert found["_ceiling of SGD"].get_ydata() == pytest.approx([0.98 * e for e in CLAIMS])
    shaded = [path for c in ax.collections for path in c.get_paths() if len(path.vertices) > 3]
    at = found["fsdp (refuted at ε 2, 4)"].get_xydata()
    inside = [any(path.contains_point(mark) for path in shaded) for mark in at]
    assert inside == [True, True, False]  # 4.86 is above the claims 2 and 4
    assert not any(path.contains_point(at) for path in shaded for at in found["SGD"].get_xydata())
    assert "refuted" in " ".join(text.get_text() for text in ax.texts)


def test_audit_crosses_out_what_fails_a_check(tmp_path: Path) -> None:
    broken = audit(None, status="broken", broken=["counts"])
    ax = audited(tmp_path, silent=lambda e, s: {"audit": broken} if e == 2.0 else {})
    assert columns(lines(ax)["a check failed"]) == [2.0]
    assert "silent (refuted at ε 2)" in lines(ax)


def test_a_certificate_that_is_beaten_in_one_seed_is_refuted(tmp_path: Path) -> None:
    """As in the table, where the other seed has a larger certificate and the claim is larger."""
    seeds = [
        {"eps_certified": 0.77, "audit": audit(2.0)},
        {"eps_certified": 3.9, "audit": audit(1.0)},
    ]
    found = draw("audit", tmp_path, [cell("sgd", 4.0, 2)], lambda own, seed: seeds[seed])
    assert found.finding == "Audits refute 1 of 1 certificates: SGD"
    assert found.data["privacy"].tolist() == ["certificate refuted"]
