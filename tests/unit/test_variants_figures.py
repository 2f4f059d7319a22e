"""Figures on the values of what was varied."""

from pathlib import Path

import numpy as np
import pytest
import synthetic
from plotted import below, compare, lines, marks, segments, value
from scipy import stats
from synthetic import cell, study

from dpfl.figures import looks
from dpfl.figures.kinds import accuracy, variants


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
