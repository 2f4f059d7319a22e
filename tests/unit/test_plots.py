"""What the figures draw is what the runs say."""

import io
import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from matplotlib.text import Text
from plotted import GRID, INF, below, compare, inside, lines, marks, segments, value
from scipy import stats
from synthetic import cell, study

from dpfl.figures import ends, looks, saving
from dpfl.figures.kinds import accuracy, bounds, clients, convergence, rates, schedule, variants
from dpfl.report import reader

HEADER = bytes([137]) + b"PNG"


def hollow(line: Line2D) -> bool:
    return line.get_markerfacecolor() == "white"


def legend_of(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


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
    cells[0]["published"] = [
        {"row": "SGD", "line": 2, "value": 96.5},
        {"row": "SGD", "line": 3, "value": 96.5},
    ]
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
    cells[0]["published"] = [{"row": "SGD", "line": 2, "value": 96.5, "by": ""}]
    cells[1]["published"] = [{"row": "Adam", "line": 3, "value": 85.0, "by": "Poe (2021)"}]
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
        own["published"] = [{"row": "their method", "line": 2, "value": 96.5}]
    for line, own in enumerate(cells, 3):
        own["published"] += [{"row": "another", "line": line, "value": 96.0}]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": 0.9})
    said = " ".join(below(plot.draw(study(cells), tmp_path).figure).split())
    assert "printed of their method stands beside each of SGD and Adam" in said
    assert said.count("stands beside") == 1  # a row of two numbers stands beside one method each


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


def test_a_run_that_ended_early_keeps_its_last_accuracy_in_the_mean(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2)]
    reached = {0: 0.6, 1: 0.8}
    synthetic.write(
        tmp_path,
        cells,
        lambda c, s: {"curve": lambda t: reached[s] + 0.02 * t, "rounds": 2 if s else 4},
    )
    [ax] = convergence.draw(study(cells), tmp_path).figure.axes
    line = lines(ax)["SGD"]
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert line.get_ydata() == pytest.approx([70, 72, 74, 75, 76])


@pytest.mark.parametrize("best", [0.5, 0.98])
def test_convergence_stretches_only_high_accuracies(tmp_path: Path, best: float) -> None:
    cells = [cell("sgd", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": best})
    ax = convergence.draw(study(cells), tmp_path).figure.axes[0]
    assert ax.get_yscale() == ("function" if best > 0.8 else "linear")


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
