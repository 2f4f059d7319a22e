"""Figures hold the numbers of the runs: lines, bands and bars are read back, not pixels."""

import io
import itertools
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from scipy import stats
from synthetic import cell, study

from dpfl.figures import ends, looks, saving
from dpfl.plots import (
    _cost,
    accuracy,
    audit,
    bounds,
    clients,
    convergence,
    rates,
    schedule,
    surface,
    variants,
)
from dpfl.privacy import accounting
from dpfl.report import reader
from dpfl.tables import ranges, results

INF = math.inf
HEADER = bytes([137]) + b"PNG"


def lines(ax: Axes) -> dict[str, Line2D]:
    return {line.get_label(): line for line in ax.lines}


def marks(ax: Axes, label: str) -> np.ndarray:
    """The points of all lines of one label [n, 2]."""
    return np.concatenate([ln.get_xydata() for ln in ax.lines if ln.get_label() == label])


def hollow(line: Line2D) -> bool:
    return line.get_markerfacecolor() == "white"


def inside(ax: Axes) -> list:
    """The texts within a panel, without the names at the ends of its lines."""
    return [text for text in ax.texts if text.xy[0] != 1.02]


def legend_of(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def below(figure) -> str:
    """The note below all panels, in one line."""
    (legend,) = figure.legends
    return " ".join(legend.get_title().get_text().split())


def segments(ax: Axes) -> list[np.ndarray]:
    """The error bars of an axes."""
    return [s for c in ax.collections if hasattr(c, "get_segments") for s in c.get_segments()]


def compare(tmp_path: Path, seeds: int = 3):
    cells = [cell(m, e, seeds) for m in ("sgd", "cadabelief") for e in (2.0, 8.0)]
    cells += [cell(m, INF, 1) for m in ("sgd", "cadabelief")]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": value(c, s)})
    return study(cells)


def value(own: dict, seed: int) -> float:
    base = {2.0: 0.90, 8.0: 0.95, "inf": 0.99}[own["epsilon"]]
    return base + 0.002 * seed + 0.005 * (own["method"] == "cadabelief")


def test_accuracy_shows_means_and_intervals(tmp_path: Path) -> None:
    ax = accuracy.draw(compare(tmp_path), tmp_path).figure.axes[0]
    sgd = lines(ax)["SGD"]
    assert sgd.get_ydata() == pytest.approx([90.2, 95.2, 99.0])
    assert np.round(sgd.get_xdata()).tolist() == [0, 1, 2]
    sample = [100 * value({"epsilon": 2.0, "method": "sgd"}, s) for s in range(3)]
    limits = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    first = min(segments(ax), key=lambda s: s[0, 0])
    assert sorted(first[:, 1]) == pytest.approx([limits.low, limits.high])
    assert len(segments(ax)) == 4  # one seed has no interval


AUDITED = {
    "sgd": lambda e, s: {"audit": synthetic.audit((0.8 + 0.03 * s) * e, 0.98 * e)},
    "fsdp": lambda e, s: {
        "eps_certified": None,
        "audit": synthetic.audit([4.4, 4.86, 0.01][s], 4.86),
    },
    "silent": lambda e, s: {},
}


def audited(tmp_path: Path, **outcomes) -> Axes:
    cells = [cell(m, e, 3) for m in AUDITED for e in (2.0, 4.0, 8.0)] + [cell("sgd", INF, 1)]
    given = AUDITED | outcomes

    def outcome(own: dict, seed: int) -> dict:
        return {} if own["epsilon"] == "inf" else given[own["method"]](own["epsilon"], seed)

    synthetic.write(tmp_path, cells, outcome)
    return audit.draw(study(cells), tmp_path).figure.axes[0]


def test_audit_marks_the_largest_bound_of_each_claim_in_its_column(tmp_path: Path) -> None:
    ax = audited(tmp_path)
    assert ax.get_xscale() == ax.get_yscale() == "log"
    sgd, fsdp = (lines(ax)[name] for name in ("SGD", "fsdp (refuted)"))
    assert sgd.get_ydata() == pytest.approx([0.86 * e for e in (2, 4, 8)])
    assert fsdp.get_ydata() == pytest.approx([4.86] * 3)
    for line in (sgd, fsdp):  # nearer to its own claim than to any other
        assert [min((2, 4, 8), key=lambda e: abs(math.log(x / e))) for x in line.get_xdata()] == [
            *(2, 4, 8)
        ]
    assert all(sgd.get_xdata() < fsdp.get_xdata())
    assert fsdp.get_markerfacecolor() == "white" != sgd.get_markerfacecolor()
    assert (
        sgd.get_color() == looks.of_study(study([cell(m, 2.0, 1) for m in AUDITED]))["sgd"].colour
    )
    assert "No bound: silent" in below(ax.figure)


def test_audit_shows_seeds_ceilings_and_what_is_refuted(tmp_path: Path) -> None:
    ax = audited(tmp_path)
    found = lines(ax)
    least = ax.get_ylim()[0]
    seeds = found["_seeds of fsdp (refuted)"].get_ydata()
    assert len(seeds) == 9 and set(seeds[:2]) == {4.4, 4.86} and seeds[2] >= least > 0.01
    assert found["_ceiling of SGD"].get_ydata() == pytest.approx([0.98 * e for e in (2, 4, 8)])
    shaded = [path for c in ax.collections for path in c.get_paths() if len(path.vertices) > 3]
    at = found["fsdp (refuted)"].get_xydata()
    inside = [any(path.contains_point(mark) for path in shaded) for mark in at]
    assert inside == [True, True, False]  # 4.86 is above the claims 2 and 4
    assert not any(path.contains_point(at) for path in shaded for at in found["SGD"].get_xydata())
    assert "refuted" in " ".join(text.get_text() for text in ax.texts)


def test_audit_crosses_out_what_fails_a_check(tmp_path: Path) -> None:
    broken = synthetic.audit(None, status="broken", broken=["counts"])
    ax = audited(tmp_path, silent=lambda e, s: {"audit": broken} if e == 2.0 else {})
    cross = lines(ax)["a check failed"]
    assert len(cross.get_xdata()) == 1
    assert min((2, 4, 8), key=lambda e: abs(math.log(cross.get_xdata()[0] / e))) == 2
    assert "silent (refuted)" in lines(ax)


def test_audit_without_an_audited_run_says_so(tmp_path: Path) -> None:
    empty = dict.fromkeys(AUDITED, AUDITED["silent"])
    ax = audited(tmp_path, **empty)
    assert "no run was audited" in ax.texts[0].get_text()


def test_audit_of_one_claim_has_a_column(tmp_path: Path) -> None:
    cells = [cell("sgd", 4.0, 2)]
    synthetic.write(tmp_path, cells, lambda c, s: {"audit": synthetic.audit(3.9)})
    low, high = audit.draw(study(cells), tmp_path).figure.axes[0].get_xlim()
    assert low < 4 < high


def test_accuracy_puts_the_non_private_runs_apart_at_the_right(tmp_path: Path) -> None:
    ax = accuracy.draw(compare(tmp_path), tmp_path).figure.axes[0]
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["2\nn = 3", "8\nn = 3", "non-private\nn = 1"]
    last = [lines(ax)[name].get_xydata()[-1] for name in ("SGD", "CAdabelief")]
    assert [y for _, y in last] == pytest.approx([99.0, 99.5])
    assert all(1.5 < x < 2.5 for x, _ in last)
    joined = [line for line in ax.lines if line.get_label() == "_line"]
    assert [max(line.get_xdata()) < 1.5 for line in joined] == [True, True]


def test_a_mean_far_below_all_others_stands_at_the_edge_with_its_value(tmp_path: Path) -> None:
    values = {"sgd": 0.93, "adam": 0.94, "adabelief": 0.95, "cadabelief": 0.96, "sgd-ema": 0.5}
    cells = [cell(method, 2.0, 2) for method in values]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": values[c["method"]]})
    ax = accuracy.draw(study(cells), tmp_path).figure.axes[0]
    assert ax.get_ylim()[0] > 85
    assert [text.get_text() for text in inside(ax)] == ["50.0"]


def test_runs_that_failed_are_counted_at_the_edge_and_in_no_mean(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3), cell("adabelief", 2.0, 3)]
    values = {"sgd": [0.907, 0.557, 0.114], "adam": [0.9, 0.91, 0.92], "adabelief": [0.1] * 3}
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": values[c["method"]][s]})
    drawn = accuracy.draw(study(cells), tmp_path)
    ax = drawn.figure.axes[0]
    assert [text.get_text() for text in inside(ax)] == ["2/3 failed", "3/3 failed"]
    assert marks(ax, "SGD")[:, 1] == pytest.approx([90.7])
    assert "AdaBelief" not in lines(ax)
    assert 85 < ax.get_ylim()[0] < 90
    assert drawn.data.set_index("method").loc["sgd", "seeds"] == "90.7"
    assert "AdaBelief (0 of 3 trained)" in drawn.words


def test_two_seeds_are_two_dots_without_a_bar(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2)]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9 + 0.02 * s})
    ax = accuracy.draw(study(cells), tmp_path).figure.axes[0]
    assert sorted(marks(ax, "_seeds")[:, 1]) == pytest.approx([90, 92])
    assert segments(ax) == []


def test_what_the_paper_prints_is_a_black_diamond(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3)]
    cells[0]["published"] = [{"row": "SGD", "value": 96.5}, {"row": "SGD", "value": 96.5}]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9})
    ax = accuracy.draw(study(cells), tmp_path).figure.axes[0]
    (printed,) = [line for line in ax.lines if line.get_label() == "_printed"]
    assert (printed.get_color(), printed.get_marker()) == ("black", "D")
    assert printed.get_ydata() == pytest.approx([96.5])
    assert printed.get_xdata() == pytest.approx(lines(ax)["SGD"].get_xdata())
    assert ax.get_ylim()[1] > 96.5
    assert "printed in the paper" in legend_of(ax.figure)
    assert "stands beside" not in below(ax.figure)


@pytest.mark.parametrize("plot", [accuracy, variants])
def test_what_another_paper_prints_of_a_rerun_is_told_apart(tmp_path: Path, plot) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3)]
    cells[0]["published"] = [{"row": "SGD", "value": 96.5, "by": ""}]
    cells[1]["published"] = [{"row": "Adam", "value": 85.0, "by": "Poe (2021)"}]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9})
    drawn = plot.draw(study(cells), tmp_path)
    ax = drawn.figure.axes[0]
    shown = [line for line in ax.lines if line.get_label() == "_printed"]
    places = {line.get_color(): [*line.get_xdata(), *line.get_ydata()] for line in shown}
    assert len(places) == 2 and 96.5 in places.pop("black")
    (colour, place), *_ = places.items()
    red, green, blue = to_rgb(colour)
    assert red == green == blue > 0 and 85.0 in place
    low, _ = sorted(ax.get_ylim() if plot is accuracy else ax.get_xlim())
    assert low < 85
    legend = legend_of(ax.figure)
    assert "printed in the paper" in legend and any("Poe (2021)" in text for text in legend)
    assert drawn.data[["printed", "rerun"]].to_numpy().tolist() == [["96.5", ""], ["", "85"]]


@pytest.mark.parametrize("plot", [accuracy, variants])
def test_a_printed_number_beside_two_methods_says_which(tmp_path: Path, plot) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3)]
    for own in cells:
        own["published"] = [{"row": "their method", "value": 96.5}]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9})
    said = " ".join(below(plot.draw(study(cells), tmp_path).figure).split())
    assert "printed of their method stands beside each of SGD and Adam" in said


@pytest.mark.parametrize("plot", [accuracy, variants])
def test_marks_without_a_proof_are_hollow_and_the_figure_says_so(tmp_path: Path, plot) -> None:
    cells = [cell(m, 2.0, 3) for m in ("dpsgd", "fsdp-central")]
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {"eps_certified": 2.0 if c["method"] == "dpsgd" else None},
    )
    figure = plot.draw(study(cells), tmp_path).figure
    found = {line.get_label(): hollow(line) for line in figure.axes[0].lines}
    names = ("DP-SGD", "central FSDP") if plot is accuracy else ("dpsgd", "fsdp-central")
    assert [found[name] for name in names] == [False, True]
    assert {"with a proof", "no proof of ε"} <= set(legend_of(figure))


def test_lines_without_a_proof_are_dashed(tmp_path: Path) -> None:
    cells = [cell(m, 2.0, 1) for m in ("dpsgd", "fsdp-central")]
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {"eps_certified": 2.0 if c["method"] == "dpsgd" else None},
    )
    found = lines(convergence.draw(study(cells), tmp_path).figure.axes[0])
    assert found["DP-SGD"].get_linestyle() == "-" and not hollow(found["DP-SGD"])
    assert found["central FSDP"].get_linestyle() == "--" and hollow(found["central FSDP"])


def test_methods_of_the_same_runs_are_one_line(tmp_path: Path) -> None:
    cells = [cell(m, e, 2) for m in ("none", "s", "m") for e in (2.0, 8.0)]
    for own, other in zip(cells[2:4], cells[:2], strict=True):
        own["runs"] = other["runs"]
    synthetic.write(
        tmp_path, cells, lambda c, s: {"eps_certified": None} if c["method"] == "m" else {}
    )
    ax = accuracy.draw(study(cells), tmp_path).figure.axes[0]
    assert set(lines(ax)) >= {"none = s", "m"}
    assert "s" not in lines(ax) and hollow(lines(ax)["m"])


@pytest.mark.parametrize("letters", [1, 20, 60])
def test_a_legend_is_as_wide_as_the_figure_at_most(tmp_path: Path, letters: int) -> None:
    cells = [cell(letter * letters, 2.0, 1) for letter in "abcdefgh"]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    figure = variants.draw(study(cells, title="word " * 60), tmp_path).figure
    (legend,) = figure.legends
    figure.savefig(io.BytesIO())
    assert legend.get_window_extent().width <= figure.bbox.width
    assert len(legend.get_texts()) == 8


@pytest.mark.parametrize("count", [1, 6, 20])
def test_names_at_the_ends_of_lines_do_not_overlap(tmp_path: Path, count: int) -> None:
    cells = [cell(f"method-{number}", 2.0, 1) for number in range(count)]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9})
    figure = accuracy.draw(study(cells), tmp_path).figure
    figure.savefig(io.BytesIO())
    (ax,) = figure.axes
    spans = [text.get_window_extent() for text in ax.texts if text.get_text() in lines(ax)]
    spans.sort(key=lambda span: span.y0)
    assert len(spans) == count
    assert all(low.y1 <= high.y0 + 0.5 for low, high in itertools.pairwise(spans))
    assert all(span.y0 >= 0 and span.y1 <= figure.bbox.height for span in spans)
    assert all(span.x1 <= figure.bbox.width for span in spans)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([0.5], [0.5]),
        ([0.5, 0.5], [0.5, 0.6]),
        ([1.0, 1.0, 0.2], [0.9, 1.0, 0.2]),
        ([0.0, 0.05, 0.9], [0.0, 0.1, 0.9]),
    ],
)
def test_names_are_spread_in_their_order(wanted: list, expected: list) -> None:
    assert ends.spread(wanted, 0.1) == pytest.approx(expected)


def test_a_huge_interval_does_not_stretch_the_accuracy_figure(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3)]
    values = {"sgd": [0.9, 0.9, 0.9], "adam": [0.86, 0.89, 0.83]}
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": values[c["method"]][s]})
    ax = accuracy.draw(study(cells), tmp_path).figure.axes[0]
    low, high = ax.get_ylim()
    assert 80 < low < 88 and 90 < high < 100
    assert any(abs(np.diff(s[:, 1])[0]) > 14 for s in segments(ax))


def test_methods_do_not_share_colour_or_marker_and_keep_them() -> None:
    cells = [cell(method, 2.0, 1) for method in "abcdefghij"]
    found = looks.of_study(study(cells))
    for part in ("colour", "marker"):
        assert len({getattr(look, part) for look in found.values()}) == len(found) == 10
    assert len({looks.look(number) for number in range(100)}) == 100
    other = study([cells[7], cells[2]], method_numbers={"h": 7, "c": 2})
    assert list(looks.of_study(other).items()) == [("c", found["c"]), ("h", found["h"])]
    assert looks.of_study(other | {"cells": [*cells[:1], *other["cells"]]})["a"] == looks.look(8)


def test_convergence_shows_mean_and_extremes_of_the_seeds(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3), cell("sgd", INF, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {"curve": lambda t: 0.1 + 0.2 * t + 0.01 * s})
    figure = convergence.draw(study(cells), tmp_path).figure
    private, free = figure.axes
    assert private.get_title("left") == "ε = 2, n = 3"
    assert free.get_title("left") == "non-private (ε = ∞), n = 1"
    assert lines(private)["SGD"].get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert lines(private)["SGD"].get_ydata() == pytest.approx([11, 31, 51, 71, 91])
    band = private.collections[0].get_paths()[0].vertices
    assert band[band[:, 0] == 2][:, 1].min() == pytest.approx(50)
    assert band[band[:, 0] == 2][:, 1].max() == pytest.approx(52)


@pytest.mark.parametrize("best", [0.5, 0.98])
def test_convergence_stretches_only_high_accuracies(tmp_path: Path, best: float) -> None:
    cells = [cell("sgd", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": best})
    ax = convergence.draw(study(cells), tmp_path).figure.axes[0]
    assert ax.get_yscale() == ("function" if best > 0.8 else "linear")


GRID = [0.001, 0.01, 0.1, 1.0]


def rate_study(tmp_path: Path):
    keys = {"sgd": "lr", "adabound": "lr", "adabound-final": "final_lr"}
    curves = {
        "sgd": [50, 90, 91, 10],
        "adabound": [88, 88, 89, 88],
        "adabound-final": [20, 80, 88, 60],
    }
    cells = [cell(m, 4.0, 1, rate=g) for m in keys for g in GRID]
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {
            "final_validation_accuracy": curves[c["method"]][GRID.index(c["variant"]["rate"])]
            / 100,
            "algorithm": c["method"].removesuffix("-final"),
            "rate_key": keys[c["method"]],
        },
    )
    return study(cells, name="rates", kind="rates"), curves


def test_rates_show_each_line_its_crosses_and_its_good_range(tmp_path: Path) -> None:
    made, curves = rate_study(tmp_path)
    sgd, adabound = rates.draw(made, tmp_path).figure.axes
    assert sgd.get_xscale() == "log"
    own = lines(sgd)["lr"]
    assert (own.get_xdata().tolist(), own.get_ydata().tolist()) == (GRID, curves["sgd"])
    assert lines(sgd)["_diverges"].get_xdata().tolist() == [1.0]
    assert lines(sgd)["_good"].get_xdata().tolist() == [0.01, 0.1]
    assert adabound.get_title("left") == "AdaBound"


def test_a_grid_of_more_than_rates_has_a_panel_for_each_variant(tmp_path: Path) -> None:
    cells = [cell("sgd", 4.0, 1, clipping=c, rate=g) for c in ("fixed", "mean") for g in GRID]
    curve = {"fixed": [0.5, 0.9, 0.91, 0.1], "mean": [0.2, 0.8, 0.95, 0.9]}

    def outcome(own: dict, seed: int) -> dict:
        variant = own["variant"]
        reached = curve[variant["clipping"]][GRID.index(variant["rate"])]
        return {"final_validation_accuracy": reached, "algorithm": "sgd"}

    synthetic.write(tmp_path, cells, outcome)
    made = study(cells, name="rates", kind="rates")
    fixed, mean = rates.draw(made, tmp_path).figure.axes
    assert [ax.get_title("left") for ax in (fixed, mean)] == ["SGD, fixed", "SGD, mean"]
    for ax, name in ((fixed, "fixed"), (mean, "mean")):
        assert lines(ax)["lr"].get_ydata() == pytest.approx([100 * a for a in curve[name]])
    found = ranges.ranges(made, results.frame(made, tmp_path)).set_index("variant")["best_rate"]
    assert found.to_dict() == {"clipping=fixed": GRID[2], "clipping=mean": GRID[2]}


@pytest.mark.parametrize("grid", [[2.0, 4.0, 8.0, 16.0], [0.125, 0.25, 0.5, 1.0], GRID])
def test_a_single_grid_of_rates_fits_its_figure(tmp_path: Path, grid: list[float]) -> None:
    cells = [cell("sgd", 4.0, 1, rate=g) for g in grid]
    synthetic.write(
        tmp_path, cells, lambda c, s: {"final_validation_accuracy": 0.9, "algorithm": "sgd"}
    )
    title = "Learning rates of strong private baselines on scattering features of CIFAR-10"
    figure = rates.draw(study(cells, name="rates", kind="rates", title=title), tmp_path).figure
    figure.savefig(io.BytesIO())
    (ax,) = figure.axes
    box = figure._suptitle.get_window_extent()
    assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
    shown = [t for t in ax.get_xticklabels(which="both") if t.get_text()]
    low, high = ax.get_xlim()
    spans = [t.get_window_extent() for t in shown if low <= t.get_position()[0] <= high]
    spans.sort(key=lambda span: span.x0)
    assert len(spans) >= 2
    assert all(left.x1 < right.x0 for left, right in itertools.pairwise(spans))


def test_the_title_of_rates_tells_the_widths_in_words(tmp_path: Path) -> None:
    made, _ = rate_study(tmp_path)
    said = rates.draw(made, tmp_path).finding
    assert said.startswith("Widest range of good rates: ") and "; narrowest: " in said
    assert " over the learning rate at ε = 4" in said and "final_lr" not in said
    cells = [cell(m, 4.0, 1, rate=g) for m in ("sgd", "adam") for g in GRID]
    synthetic.write(tmp_path, cells, lambda c, s: {"final_validation_accuracy": 0.9})
    alike = rates.draw(study(cells, name="rates", kind="rates"), tmp_path).finding
    assert alike == f"All ranges of good rates span {math.log10(GRID[-1] / GRID[0]):.1f} decades"


def test_a_single_row_of_rates_has_room_for_its_label(tmp_path: Path) -> None:
    cells = [cell("sgd", 4.0, 1, rate=g) for g in GRID]
    synthetic.write(tmp_path, cells, lambda c, s: {"final_validation_accuracy": 0.9})
    figure = rates.draw(study(cells, name="rates", kind="rates"), tmp_path).figure
    figure.savefig(io.BytesIO())
    (ax,) = figure.axes
    label = ax.yaxis.label.get_window_extent()
    assert figure.legends[0].get_window_extent().y1 <= label.y0
    assert label.y1 <= figure._suptitle.get_window_extent().y0


def test_a_second_rate_looks_different(tmp_path: Path) -> None:
    made, curves = rate_study(tmp_path)
    found = lines(rates.draw(made, tmp_path).figure.axes[1])
    assert found["lr"].get_ydata().tolist() == curves["adabound"]
    assert found["final_lr"].get_ydata().tolist() == curves["adabound-final"]
    assert found["lr"].get_linestyle() == found["final_lr"].get_linestyle() == "-"  # proven both
    for size in ("get_linewidth", "get_markersize"):
        assert getattr(found["final_lr"], size)() < getattr(found["lr"], size)()


def test_bounds_show_the_bounds_the_quantiles_and_the_clipped_share(tmp_path: Path) -> None:
    made = compare(tmp_path)
    figure = bounds.draw(made, tmp_path).figure
    upper, lower = figure.axes[0], figure.axes[3]
    assert len(figure.axes) == 6
    assert (upper.get_xscale(), upper.get_yscale()) == ("log", "log")
    found = {**lines(upper), **lines(lower)}
    step = np.array([10, 20, 30, 40])
    low, high = 0.1 * (1 - 1 / (0.001 * step + 1)), 0.1 * (1 + 1 / (0.001 * step))
    assert found[r"lower bound $\eta_l$"].get_xdata().tolist() == step.tolist()
    assert found[r"lower bound $\eta_l$"].get_ydata() == pytest.approx(low)
    assert found[r"upper bound $\eta_h$"].get_ydata() == pytest.approx(high)
    assert found["median before clipping"].get_ydata() == pytest.approx([0.05] * 4)
    assert found[r"raised to $\eta_l$"].get_ydata() == pytest.approx([25] * 4)
    outer = upper.collections[0].get_paths()[0].vertices[:, 1]
    assert (outer.min(), outer.max()) == pytest.approx((0.01, 0.2))
    titles = [ax.get_title("left") for ax in figure.axes[:3]]
    assert titles == ["ε = 2\nn = 3", "ε = 8\nn = 3", "non-private (ε = ∞)\nn = 1"]


def test_the_title_of_bounds_says_all_and_none_in_words(tmp_path: Path) -> None:
    cells = [cell("cadabelief", e, 1) for e in (2.0, 8.0)]
    shares = {2.0: (0.0, 1.0), 8.0: (0.0, 0.999)}

    def outcome(own: dict, seed: int) -> dict:
        rates_of = (0.01, 0.02, 0.05, 0.1, 0.2, *shares[own["epsilon"]])
        return {"quantiles": lambda step: rates_of}

    synthetic.write(tmp_path, cells, outcome)
    said = "CAdabelief: after the last step its bounds lower all of the rates and raise none"
    assert bounds.draw(study(cells), tmp_path).finding == f"{said}, at every ε"
    assert bounds.draw(study(cells[:1]), tmp_path).finding == said
    shares[8.0] = (0.25, 0.5)
    synthetic.write(tmp_path, cells, outcome)
    assert "lower 50 to 100 % of the rates and raise 0 to 25 %" in (
        bounds.draw(study(cells), tmp_path).finding
    )


def test_huge_rates_do_not_stretch_the_bounds_figure(tmp_path: Path) -> None:
    cells = [cell("cadabelief", INF, 1)]
    huge = (0.01, 0.02, 0.05, 0.1, 1e7, 0.0, 0.3)
    synthetic.write(tmp_path, cells, lambda c, s: {"quantiles": lambda step: huge})
    upper = bounds.draw(study(cells), tmp_path).figure.axes[0]
    assert 10.1 < upper.get_ylim()[1] < 1e3


def test_bounds_prefer_the_method_in_focus(tmp_path: Path) -> None:
    cells = [cell("adabound", 2.0, 1), cell("cadabelief", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    claimed = bounds.draw(study(cells, focus="cadabelief"), tmp_path).figure
    assert claimed.get_suptitle().startswith("CAdabelief")
    assert bounds.draw(study(cells), tmp_path).figure.get_suptitle().startswith("AdaBound")


def test_bounds_of_a_study_without_bounds_say_so(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    [ax] = bounds.draw(study(cells), tmp_path).figure.axes
    assert "no run recorded a bounded rate" in ax.texts[0].get_text()


def test_variants_show_a_dot_and_an_interval_each(tmp_path: Path) -> None:
    states = {"persist": 0.95, "reset": 0.93, "server": 0.94}
    cells = [cell("cadabelief", 2.0, 3, state=s) for s in states]
    cells += [cell("adabelief", 2.0, 1, state="persist"), cell("adabelief", 8.0, 1, state="reset")]
    synthetic.write(
        tmp_path, cells, lambda c, s: {"accuracy": states[c["variant"]["state"]] + 0.01 * s}
    )
    left, right = variants.draw(study(cells, kind="variants"), tmp_path).figure.axes
    names = [tick.get_text() for tick in left.get_yticklabels()]
    assert names == ["persist", "reset", "server"]
    own = marks(left, "cadabelief")
    assert own[:, 0] == pytest.approx([96, 94, 95])
    assert np.round(own[:, 1]).tolist() == [0, 1, 2]
    limits = stats.ttest_1samp([95, 96, 97], 0).confidence_interval(0.95)
    assert segments(left)[0][:, 0] == pytest.approx([limits.low, limits.high])
    assert len(segments(left)) == 3
    assert lines(right)["adabelief"].get_xdata() == pytest.approx([93])


def test_the_first_of_several_settings_has_panels_in_the_colour_of_its_family(
    tmp_path: Path,
) -> None:
    pairs = [(m, c) for m in ("dpsgd", "fsdp-central") for c in ("clip-1", "mean", "median")]
    cells = [cell("alongside", 8.0, 3, mechanism=m, clipping=c, optimizer="sgd") for m, c in pairs]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9})
    drawn = variants.draw(study(cells, kind="variants"), tmp_path)
    upper, lower = drawn.figure.axes
    titles = [ax.get_title("left") for ax in (upper, lower)]
    assert titles == ["DP-SGD, ε = 8, n = 3", "central FSDP, ε = 8, n = 3"]
    assert [t.get_text() for t in lower.get_yticklabels()] == ["clip-1", "mean", "median"]
    for ax, method in ((upper, "dpsgd"), (lower, "fsdp-central")):
        assert lines(ax)["alongside"].get_color() == looks.of_method(method).colour
    assert "In all of it: optimizer SGD." in below(drawn.figure)
    assert drawn.data["series"].tolist()[3] == "central FSDP, clip-1"


def test_the_numbers_beside_a_figure_are_those_of_its_runs(tmp_path: Path) -> None:
    data = accuracy.draw(compare(tmp_path), tmp_path).data
    row = data[(data["method"] == "sgd") & (data["epsilon"] == 2.0)].iloc[0]
    sample = [100 * value({"epsilon": 2.0, "method": "sgd"}, s) for s in range(3)]
    limits = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((limits.low, limits.high))
    assert [float(text) for text in row["seeds"].split()] == pytest.approx(sample)
    assert (row["n"], row["trained"], row["certified"]) == (3, 3, True)


def test_a_variant_that_never_trains_stands_at_the_edge_of_a_shared_frame(
    tmp_path: Path,
) -> None:
    cells = [cell("sgd", e, 2, rank=rank) for e in (2.0, 8.0) for rank in (10, 50, 200, 500)]

    def outcome(own: dict, seed: int) -> dict:
        rank, epsilon = own["variant"]["rank"], own["epsilon"]
        lost = (rank, epsilon) == (50, 2.0) or (rank, epsilon, seed) == (200, 8.0, 0)
        return {"accuracy": 0.1 if lost else 0.96 + seed / 100}

    synthetic.write(tmp_path, cells, outcome)
    left, right = variants.draw(study(cells, kind="variants"), tmp_path).figure.axes
    assert [text.get_text() for text in left.texts] == ["2 of 2 failed"]
    assert [text.get_text() for text in right.texts] == ["1 of 2 failed"]
    assert len(marks(left, "sgd")) == 3
    assert sorted(marks(right, "sgd")[:, 0]) == pytest.approx([96.5, 96.5, 96.5, 97])
    assert left.get_xlim() == right.get_xlim()
    assert 90 < left.get_xlim()[0] < 96.5 < left.get_xlim()[1] <= 101


NOISE = {"uniform": lambda t: 1.0, "decay": lambda t: 0.5 + 0.2 * t}


def budgets(tmp_path: Path, epsilons: tuple = (2.0, 8.0)):
    """Write two strategies, the second of which runs out of budget after three of four rounds."""
    cells = [cell("sgd", e, 2, budget=b) for b in NOISE for e in epsilons]

    def outcome(own: dict, seed: int) -> dict:
        budget = own["variant"]["budget"]
        return {
            "noise": NOISE[budget],
            "rounds": 4 if budget == "uniform" else 3,
            "curve": lambda t: 0.1 + 0.2 * t + 0.02 * seed,
            "accuracy": 0.93 + 0.02 * seed if budget == "uniform" else 0.93 - 0.02 * seed + 0.01,
        }

    synthetic.write(tmp_path, cells, outcome)
    return study(cells, kind="variants", baseline={"budget": "uniform"})


def test_schedule_shows_noise_epsilon_and_accuracy_by_round(tmp_path: Path) -> None:
    figure = schedule.draw(budgets(tmp_path), tmp_path).figure
    noise, spent, reached = figure.axes[:3]
    assert len(figure.axes) == 6
    assert [ax.get_title("left") for ax in figure.axes[::3]] == ["ε = 2", "ε = 8"]
    decay = lines(noise)["decay"]
    assert decay.get_xdata().tolist() == [1, 2, 3]  # round 0 has no noise, round 4 no budget
    assert decay.get_ydata() == pytest.approx([0.7, 0.9, 1.1])
    assert lines(noise)["uniform"].get_ydata().tolist() == [1, 1, 1, 1]
    assert lines(spent)["uniform"].get_ydata() == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert lines(spent)["_budget"].get_ydata()[0] == 2
    assert lines(figure.axes[4])["_budget"].get_ydata()[0] == 8
    assert lines(reached)["decay"].get_xdata() == pytest.approx([-1])
    assert sorted(marks(reached, "_seeds")[:, 0]) == pytest.approx([-3, 1])
    assert figure.get_suptitle().startswith("Decay: -1.0 point against uniform at ε")


def test_schedule_without_a_baseline_shows_accuracies(tmp_path: Path) -> None:
    made = budgets(tmp_path, (2.0, INF)) | {"baseline": {}}
    figure = schedule.draw(made, tmp_path).figure
    assert len(figure.axes) == 3
    assert lines(figure.axes[2])["decay"].get_xdata() == pytest.approx([93])


def test_schedule_without_noise_says_so(tmp_path: Path) -> None:
    [ax] = schedule.draw(budgets(tmp_path, (INF,)), tmp_path).figure.axes
    assert "no run recorded its noise" in ax.texts[0].get_text()


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


def by_clients(tmp_path: Path, epsilons: tuple = (2.0, 8.0, INF), methods: tuple = ("a", "b")):
    cells = [
        cell(m, e, 3, clients=n) | {"unit": "client"}
        for m in methods
        for e in epsilons
        for n in (20, 400)
    ]
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {"accuracy": 0.5 + 0.001 * c["variant"]["clients"] + 0.01 * s},
    )
    return study(cells, kind="variants")


def test_clients_show_means_and_intervals_beside_training_without_privacy(tmp_path: Path) -> None:
    figure = clients.draw(by_clients(tmp_path), tmp_path).figure
    left, right = figure.axes
    assert [ax.get_title("left") for ax in (left, right)] == ["ε = 2, n = 3", "ε = 8, n = 3"]
    own = lines(left)["a"]
    assert own.get_ydata() == pytest.approx([53, 91])
    assert own.get_xdata() == pytest.approx([20, 400], rel=0.03)
    limits = stats.ttest_1samp([52, 53, 54], 0).confidence_interval(0.95)
    first = min(segments(left), key=lambda s: s[0, 0])
    assert sorted(first[:, 1]) == pytest.approx([limits.low, limits.high])
    assert len(segments(left)) == 4
    assert left.get_xscale() == "log"
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["20", "400"]
    assert lines(right)["_free a"].get_linestyle() == "-"
    assert lines(right)["_free a"].get_ydata() == pytest.approx([53, 91])
    assert "whole clients protected" in below(figure)


def test_clients_without_non_private_runs_or_with_nothing_else(tmp_path: Path) -> None:
    [ax] = clients.draw(by_clients(tmp_path / "private", (8.0,)), tmp_path / "private").figure.axes
    assert [label for label in lines(ax) if label[0] != "_"] == ["a", "b"]
    [ax] = clients.draw(by_clients(tmp_path / "free", (INF,)), tmp_path / "free").figure.axes
    assert lines(ax)["a"].get_ydata() == pytest.approx([53, 91])


def test_clients_draw_a_line_per_value_of_what_else_is_varied(tmp_path: Path) -> None:
    cells = [cell("a", 8.0, 1, clipping=c, clients=n) for c in ("one", "two") for n in (20, 400)]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    [ax] = clients.draw(study(cells), tmp_path).figure.axes
    one, two = lines(ax)["a, clipping=one"], lines(ax)["a, clipping=two"]
    assert one.get_color() != two.get_color() and one.get_marker() != two.get_marker()


def test_clients_need_a_study_of_their_number(tmp_path: Path) -> None:
    [ax] = clients.draw(compare(tmp_path, seeds=1), tmp_path).figure.axes
    assert "no study of the number of clients" in ax.texts[0].get_text()


WORST_CASES = {
    "accuracy": (accuracy, [cell(m, e, 3) for m in "abcdefgh" for e in (0.5, 1, 2, 4, 8, INF)]),
    "convergence": (convergence, [cell(m, e, 3) for m in "abcd" for e in (0.5, 1, 2, 4, 8, INF)]),
    "variants": (
        variants,
        [cell("sgd", e, 3, rank=r) for e in (0.5, 1, 2, 4, 8) for r in (10, 500)],
    ),
    "bounds": (bounds, [cell("cadabelief", e, 1, r=r) for e in (2, 8, INF) for r in (1, 2, 3)]),
    "rates": (rates, [cell(m, e, 1, rate=g) for m in "abcde" for e in (2, 8) for g in GRID]),
    "clients": (clients, [cell("a", e, 3, clients=n) for e in (1, 2, 4, 8) for n in (20, 400)]),
    "schedule": (schedule, [cell("sgd", e, 3, budget=b) for e in (2, 8) for b in "abcd"]),
}


@pytest.mark.parametrize("name", WORST_CASES)
def test_the_smallest_text_can_be_read_where_a_page_shows_the_figure(tmp_path: Path, name) -> None:
    plot, cells = WORST_CASES[name]
    outcome = {"final_validation_accuracy": 0.9} if name == "rates" else {}
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9 + s / 100} | outcome)
    figure = plot.draw(study(cells, title="A title of some words"), tmp_path).figure
    png = tmp_path / "figure.png"
    figure.savefig(png, dpi=saving.FORMATS[".png"]["dpi"])
    scale = reader.shown_width(png) / (96 * figure.get_figwidth())
    texts = [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]
    smallest = min(texts, key=lambda text: text.get_fontsize())
    assert smallest.get_fontsize() * scale >= 6.9, smallest


def test_values_do_not_share_colour_or_marker() -> None:
    found = looks.numbered("abcdefghij")
    for part in ("colour", "marker"):
        assert len({getattr(look, part) for look in found.values()}) == 10
    assert list(looks.numbered(["b", "a", "b"])) == ["b", "a"]


@pytest.mark.parametrize("figure", [accuracy, convergence, bounds, variants])
def test_one_seed_is_enough(tmp_path: Path, figure) -> None:
    made = compare(tmp_path, seeds=1)
    buffer = io.BytesIO()
    figure.draw(made, tmp_path).figure.savefig(buffer, format="png")
    assert buffer.getvalue().startswith(HEADER)


def test_the_driver_writes_all_of_a_figure_with_equal_bytes(tmp_path: Path, root: Path) -> None:
    path = tmp_path / "study.json"
    path.write_text(json.dumps(compare(tmp_path, seeds=2)))
    for folder in ("a", "b"):
        arguments = ["--study", path, "--figure", "accuracy", "--runs", tmp_path]
        output = ["--output", tmp_path / folder / "accuracy"]
        driver = [sys.executable, root / "workflow/scripts/plot.py"]
        subprocess.run([*driver, *arguments, *output], check=True)
    written = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert written == [f"accuracy.{ending}" for ending in ("csv", "pdf", "png", "txt")]
    for name in written:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
