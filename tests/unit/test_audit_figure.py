"""The figure of audits: bounds of epsilon in the column of each claim."""

import math
from pathlib import Path

import pytest
from matplotlib.axes import Axes
from plotted import INF, below, draw, lines
from synthetic import audit, cell, study

from dpfl.figures import looks

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
    sgd, fsdp = (lines(ax)[name] for name in ("SGD", "fsdp (refuted)"))
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
    seeds = found["_seeds of fsdp (refuted)"].get_ydata()
    assert len(seeds) == 9 and set(seeds[:2]) == {4.4, 4.86} and seeds[2] >= least > 0.01
    assert found["_ceiling of SGD"].get_ydata() == pytest.approx([0.98 * e for e in CLAIMS])
    shaded = [path for c in ax.collections for path in c.get_paths() if len(path.vertices) > 3]
    at = found["fsdp (refuted)"].get_xydata()
    inside = [any(path.contains_point(mark) for path in shaded) for mark in at]
    assert inside == [True, True, False]  # 4.86 is above the claims 2 and 4
    assert not any(path.contains_point(at) for path in shaded for at in found["SGD"].get_xydata())
    assert "refuted" in " ".join(text.get_text() for text in ax.texts)


def test_audit_crosses_out_what_fails_a_check(tmp_path: Path) -> None:
    broken = audit(None, status="broken", broken=["counts"])
    ax = audited(tmp_path, silent=lambda e, s: {"audit": broken} if e == 2.0 else {})
    assert columns(lines(ax)["a check failed"]) == [2.0]
    assert "silent (refuted)" in lines(ax)


def test_a_certificate_that_is_beaten_in_one_seed_is_refuted(tmp_path: Path) -> None:
    """As in the table, where the other seed has a larger certificate and the claim is larger."""
    seeds = [
        {"eps_certified": 0.77, "audit": audit(2.0)},
        {"eps_certified": 3.9, "audit": audit(1.0)},
    ]
    found = draw("audit", tmp_path, [cell("sgd", 4.0, 2)], lambda own, seed: seeds[seed])
    assert found.finding == "Audits refute 1 of 1 certificates: SGD"
    assert found.data["privacy"].tolist() == ["certificate refuted"]


def test_variants_are_told_apart_in_the_column_of_the_only_claim(tmp_path: Path) -> None:
    cells = [cell("fsdp", 4.0, 2, rank=rank) for rank in (10, 50)]
    (ax,) = draw("audit", tmp_path, cells, lambda c, s: {"audit": audit(3.9)}).figure.axes
    low, high = ax.get_xlim()
    assert low < 4 < high
    shown = [line for name, line in lines(ax).items() if not name.startswith("_")]
    assert len({line.get_color() for line in shown}) == len(shown) == 2
