"""The figure of accuracy against the number of clients."""

from pathlib import Path

import pytest
import synthetic
from plotted import INF, below, compare, lines, segments
from scipy import stats
from synthetic import cell, study

from dpfl.figures.kinds import clients


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
