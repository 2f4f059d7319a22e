"""What the figures of accuracy draw is what the runs say."""

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.lines import Line2D
from plotted import (
    GRID,
    INF,
    below,
    compare,
    draw,
    inside,
    lines,
    marks,
    segments,
    ticks,
    titles,
    uncertified,
    value,
)
from scipy import stats
from synthetic import cell


def hollow(line: Line2D) -> bool:
    return line.get_markerfacecolor() == "white"


def legend_of(figure) -> list[str]:
    return [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def student(sample: list[float]) -> list[float]:
    """The ends of Student's 95 % interval, as scipy has it."""
    return [*stats.ttest_1samp(sample, 0).confidence_interval(0.95)]


def test_accuracy_shows_means_intervals_and_numbers(tmp_path: Path) -> None:
    drawn = compare("accuracy", tmp_path)
    (ax,) = drawn.figure.axes
    assert marks(ax, "SGD")[:, 1] == pytest.approx([90.2, 95.2, 99.0])
    assert np.round(marks(ax, "SGD")[:, 0]).tolist() == [0, 1, 2]
    sample = [100 * value({"epsilon": 2.0, "method": "sgd"}, s) for s in range(3)]
    first = min(segments(ax), key=lambda s: s[0, 0])
    assert sorted(first[:, 1]) == pytest.approx(student(sample))
    assert len(segments(ax)) == 4  # one seed has no interval
    row = drawn.data.query("method == 'sgd' and epsilon == 2").iloc[0]
    assert row[["low", "high"]].tolist() == pytest.approx(student(sample))
    assert [float(text) for text in row["seeds"].split()] == pytest.approx(sample)
    assert (row["n"], row["trained"], row["certified"]) == (3, 3, True)


def test_what_failed_or_lies_far_below_stands_at_the_edge(tmp_path: Path) -> None:
    values = {
        "sgd": [0.907, 0.1, 0.114],
        "adam": [0.9, 0.91, 0.92],
        "adabelief": [0.1] * 3,
        "cadabelief": [0.86, 0.89, 0.83],
        "sgd-ema": [0.5] * 3,
        "dpsgd": [0.91] * 3,
        "fsdp": [0.9] * 3,
    }
    cells = [cell(m, e, 3) for e in (2.0, 8.0) for m in values]
    drawn = draw("accuracy", tmp_path, cells, lambda c, s: {"accuracy": values[c["method"]][s]})
    (ax,) = drawn.figure.axes
    assert inside(ax)[::2] == inside(ax)[1::2] == ["2/3 failed", "3/3 failed", "← 50.0"]
    assert marks(ax, "SGD")[:, 1] == pytest.approx([90.7, 90.7])
    assert "AdaBelief" not in lines(ax)
    assert 80 < ax.get_ylim()[0] < 86 and 91 < ax.get_ylim()[1] < 100
    assert any(abs(np.diff(s[:, 1])[0]) > 14 for s in segments(ax))
    assert drawn.data["seeds"][0] == "90.7"
    assert "AdaBelief (0 of 3 trained)" in drawn.words


def test_what_is_printed_is_a_diamond_black_if_the_paper_ran_it(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3)]
    cells[0]["published"] = [{"row": "SGD", "line": n, "value": 96.5, "by": ""} for n in (2, 3)]
    cells[1]["published"] = [{"row": "Adam", "line": 4, "value": 85.0, "by": "Poe (2021)"}]
    drawn = draw("variants", tmp_path, cells)
    (ax,) = drawn.figure.axes
    assert {line.get_marker() for line in ax.lines if line.get_label() == "_printed"} == {"D"}
    shown = {ln.get_color(): ln.get_xydata()[0] for ln in ax.lines if ln.get_label() == "_printed"}
    own, black = marks(ax, "sgd")[0], shown.pop("black")
    assert black[0] == 96.5 and 0 < abs(black[1] - own[1]) < 0.2
    ((colour, grey),) = shown.items()
    assert len({*to_rgb(colour)}) == 1 and grey[0] == 85.0
    low, high = sorted(ax.get_xlim())
    assert low < 85 and high > 96.5
    legend = legend_of(ax.figure)
    assert "printed in the paper" in legend and any("Poe (2021)" in text for text in legend)
    assert drawn.data[["printed", "rerun"]].to_numpy().tolist() == [["96.5", ""], ["", "85"]]
    assert "is drawn at" not in below(ax.figure)


@pytest.mark.parametrize("kind", ["accuracy", "variants"])
def test_a_printed_number_beside_two_methods_says_which(tmp_path: Path, kind) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3)]
    for line, own in enumerate(cells, 3):
        own["published"] = [
            {"row": "their method", "line": 2, "value": 96.5},
            {"row": "another", "line": line, "value": 96.0},
        ]
    (ax,) = draw(kind, tmp_path, cells).figure.axes
    assert ticks(ax.yaxis) == ["SGD", "Adam"]  # of one budget methods are rows in either figure
    said = below(ax.figure)
    assert "printed of their method is drawn at SGD and Adam" in said
    assert said.count("is drawn at") == 1  # a row of two numbers is drawn at one method each


@pytest.mark.parametrize("kind", ["variants", "convergence"])
def test_what_has_no_proof_is_hollow_and_the_figure_says_so(tmp_path: Path, kind) -> None:
    cells = [cell(m, 2.0, 1) for m in ("dpsgd", "fsdp-central")]
    figure = draw(kind, tmp_path, cells, uncertified("fsdp-central")).figure
    names = ("dpsgd", "fsdp-central") if kind == "variants" else ("DP-SGD", "central FSDP")
    found = lines(figure.axes[0])
    assert [hollow(found[name]) for name in names] == [False, True]
    if kind == "convergence":
        assert [found[name].get_linestyle() for name in names] == ["-", "--"]
    assert {"with a proof", "no proof of ε"} <= set(legend_of(figure))


def test_methods_of_the_same_runs_are_one_line(tmp_path: Path) -> None:
    cells = [cell(m, e, 2) for m in ("none", "s", "m") for e in (2.0, 8.0)]
    for own, other in zip(cells[2:4], cells[:2], strict=True):
        own["runs"] = other["runs"]
    (ax,) = draw("accuracy", tmp_path, cells, uncertified("m")).figure.axes
    assert set(lines(ax)) >= {"none", "m"}
    assert "s" not in lines(ax) and hollow(lines(ax)["m"])
    assert "The same runs: none and s." in below(ax.figure)


@pytest.mark.parametrize("count", [1, 6, 20])
def test_names_at_the_ends_of_lines_do_not_overlap(tmp_path: Path, count: int) -> None:
    cells = [cell(f"method-{number}", e, 1) for number in range(count) for e in (2.0, 8.0)]
    figure = draw("accuracy", tmp_path, cells).figure
    figure.savefig(io.BytesIO())
    (ax,) = figure.axes
    spans = [text.get_window_extent() for text in ax.texts if text.get_text() in lines(ax)]
    spans.sort(key=lambda span: span.y0)
    assert len(spans) == count
    assert all(low.y1 <= high.y0 + 0.5 for low, high in itertools.pairwise(spans))
    assert all(span.y0 >= 0 and span.y1 <= figure.bbox.height for span in spans)
    assert all(span.x1 <= figure.bbox.width for span in spans)


def test_variants_show_means_intervals_and_who_never_trained_in_a_shared_frame(
    tmp_path: Path,
) -> None:
    states = {"persist": 0.95, "reset": 0.93, "server": 0.94, "none": 0.1}
    cells = [cell("cadabelief", 2.0, 3, state=s) for s in states]
    cells += [cell("adabelief", 8.0, 1 + (s != "none"), state=s) for s in states]

    def outcome(own: dict, seed: int) -> dict:
        lost = (own["variant"]["state"], own["epsilon"], seed) == ("reset", 8.0, 0)
        return {"accuracy": 0.1 if lost else states[own["variant"]["state"]] + 0.01 * seed}

    left, right = draw("variants", tmp_path, cells, outcome).figure.axes
    assert ticks(left.yaxis) == [*states]
    own = marks(left, "cadabelief")
    assert own[:, 0] == pytest.approx([96, 94, 95])
    assert np.round(own[:, 1]).tolist() == [0, 1, 2]
    assert segments(left)[0][:, 0] == pytest.approx(student([95, 96, 97]))
    assert len(segments(left)) == 3 and segments(right) == []  # two seeds have no interval
    assert (inside(left), inside(right)) == (["3/3 failed"], ["1/2 failed", "1/1 failed"])
    assert titles([left, right]) == ["ε = 2, n = 3", "ε = 8, n = 1 to 2"]
    assert marks(right, "adabelief")[:, 0] == pytest.approx([95.5, 94, 94.5])
    assert len(marks(left, "_seeds")) == 9 and left.get_xlim() == right.get_xlim()
    assert 88 < left.get_xlim()[0] < 93 and 97 < left.get_xlim()[1] <= 101


PANELS = {
    "bounds": [cell("cadabelief", e, 1, r=r) for e in (2, INF) for r in (1, 2)],
    "rates": [cell(m, e, 1, rate=g) for m in "abc" for e in (2, 8) for g in GRID][:-4],
}


@pytest.mark.parametrize("kind", PANELS)
def test_panels_that_are_left_over_are_removed(tmp_path: Path, kind: str) -> None:
    outcome = lambda c, s: {"final_validation_accuracy": 0.9}  # noqa: E731
    axes = draw(kind, tmp_path, PANELS[kind], outcome).figure.axes
    assert all(ax.has_data() for ax in axes) and len(axes) == {"bounds": 8, "rates": 5}[kind]


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        ("audit", "no run was audited"),
        ("bounds", "no run recorded a bounded rate"),
        ("convergence", "fewer than two methods trained"),
        ("schedule", "no run recorded its noise"),
    ],
)
def test_a_figure_of_a_study_that_has_nothing_for_it_says_so(tmp_path: Path, kind, told) -> None:
    (ax,) = draw(kind, tmp_path, [cell("sgd", INF, 1)]).figure.axes
    assert told in ax.texts[0].get_text()
