"""Learning rates: the table of good ranges, its figure, and the bounds that clip rates."""

from pathlib import Path

import numpy as np
import pytest
import synthetic
from plotted import GRID, compare, draw, lines, titles
from refusals import refuses
from synthetic import cell, study
from tabled import row

from dpfl.figures.drawn import Drawn
from dpfl.tables import ranges, results

CURVES = {"sgd": [50, 90, 91, 10], "adabound": [88, 88, 89, 88], "adabound-final": [20, 80, 88, 60]}


def rates(home: Path, cells: list[dict], outcome, **options) -> Drawn:
    """Draw a study of rates."""
    return draw("rates", home, cells, outcome, kind="rates", **options)


def test_rates_show_each_line_its_crosses_and_its_good_range(tmp_path: Path) -> None:
    """Of two optimizers, of which one has a second rate."""

    def outcome(own: dict, seed: int) -> dict:
        reached = CURVES[own["method"]][GRID.index(own["variant"]["rate"])]
        return {
            "final_validation_accuracy": reached / 100,
            "algorithm": own["method"].removesuffix("-final"),
            "rate_key": "final_lr" if own["method"] == "adabound-final" else "lr",
        }

    cells = [cell(m, 4.0, 1, rate=g) for m in CURVES for g in GRID]
    drawn = rates(tmp_path, cells, outcome)
    sgd, adabound = drawn.figure.axes
    assert sgd.get_xscale() == "log"
    own = lines(sgd)["lr"]
    assert (own.get_xdata().tolist(), own.get_ydata().tolist()) == (GRID, CURVES["sgd"])
    assert lines(sgd)["_diverges"].get_xdata().tolist() == [1.0]
    assert lines(sgd)["_good"].get_xdata().tolist() == [0.01, 0.1]
    assert adabound.get_title("left") == "AdaBound"
    found = lines(adabound)
    assert found["lr"].get_ydata().tolist() == CURVES["adabound"]
    assert found["final_lr"].get_ydata().tolist() == CURVES["adabound-final"]
    assert found["lr"].get_linestyle() == found["final_lr"].get_linestyle() == "-"  # proven both
    for size in ("get_linewidth", "get_markersize"):
        assert getattr(found["final_lr"], size)() < getattr(found["lr"], size)()
    assert drawn.finding.startswith("Widest range of good rates: ")
    assert " over the learning rate at ε = 4" in drawn.finding and "final_lr" not in drawn.finding
    assert "by its final rate over the final rate at ε = 4: best 88.0 % at 0.1," in drawn.words


def test_a_grid_of_more_than_rates_has_a_panel_for_each_variant(tmp_path: Path) -> None:
    cells = [cell("sgd", 4.0, 1, clipping=c, rate=g) for c in ("fixed", "mean") for g in GRID]
    curve = {"fixed": [0.5, 0.9, 0.91, 0.1], "mean": [0.2, 0.8, 0.95, 0.9]}

    def outcome(own: dict, seed: int) -> dict:
        variant = own["variant"]
        reached = curve[variant["clipping"]][GRID.index(variant["rate"])]
        return {"final_validation_accuracy": reached}

    axes = rates(tmp_path, cells, outcome).figure.axes
    assert titles(axes) == ["SGD, fixed", "SGD, mean"]
    for ax, name in zip(axes, curve, strict=True):
        assert lines(ax)["lr"].get_ydata() == pytest.approx([100 * a for a in curve[name]])
    made = study(cells, kind="rates")
    found = ranges.ranges(made, results.frame(made, tmp_path)).set_index("clipping")["best_rate"]
    assert found.to_dict() == {"fixed": GRID[2], "mean": GRID[2]}


def test_bounds_show_the_bounds_the_quantiles_and_the_clipped_share(tmp_path: Path) -> None:
    figure = compare("bounds", tmp_path).figure
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
    first = ["ε = 2\nn = 3", "ε = 8\nn = 3", "non-private (ε = ∞)\none seed"]
    assert titles(figure.axes[:3]) == first


WIDE = [0.0001, 0.001, 0.01, 0.1, 1.0, 10.0]


def rate_study(tmp_path: Path, validation: dict[str, list], diverged: tuple = ()):
    """Write one run per method and rate with these validation accuracies in percent."""
    cells = [cell(m, 4.0, 1, rate=g) for m in validation for g in WIDE]

    def outcome(own: dict, seed: int) -> dict:
        at = WIDE.index(own["variant"]["rate"])
        value = validation[own["method"]][at]
        bad = (own["method"], at) in diverged
        final = None if value is None else value / 100
        return {"final_validation_accuracy": final, "diverged": bad}

    synthetic.write(tmp_path, cells, outcome)
    made = study(cells, name="rates", kind="rates")
    return made, results.frame(made, tmp_path)


def test_rates_are_classified(tmp_path: Path) -> None:
    validation = {"sgd": [11, 40, 94.5, 96, 30, 10], "adam": [95, 96, 96, 95, 80, 90]}
    made, runs = rate_study(tmp_path, validation, diverged=(("adam", 5),))
    table = ranges.classified(made, runs)
    states = {m: table.loc[table["method"] == m, "state"].tolist() for m in validation}
    assert states["sgd"] == ["crawls", "crawls", "good", "good", "unstable", "diverges"]
    assert states["adam"] == ["good", "good", "good", "good", "fair", "diverges"]
    sgd, adam = (row(ranges.ranges(made, runs), method=m) for m in validation)
    assert (sgd["best_rate"], sgd["good_low"], sgd["good_high"]) == (0.1, 0.01, 0.1)
    assert sgd["width_decades"] == pytest.approx(1.0)
    assert (sgd["rates"], sgd["trials"], sgd["edge"]) == (6, 6, "")
    assert (sgd["diverging"], sgd["unstable"], sgd["crawling"]) == (1, 1, 2)
    assert (adam["best_rate"], adam["edge"]) == (0.001, "lower")
    assert adam["width_decades"] == pytest.approx(3.0)


def test_the_good_range_has_no_gap(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [95, 80, 96, 95, 80, 95]})
    own = ranges.ranges(made, runs).iloc[0]
    assert (own["good_low"], own["good_high"], own["edge"]) == (0.01, 0.1, "")


def test_an_optimizer_far_below_the_others_has_no_good_range(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [16, 17, 17, 16, 16, 16], "adam": [90] * 6})
    sgd, adam = (row(ranges.ranges(made, runs), method=m) for m in ("sgd", "adam"))
    assert (sgd["crawling"], sgd["unstable"], sgd["diverging"]) == (6, 0, 0)
    assert np.isnan(sgd["width_decades"]) and adam["width_decades"] == pytest.approx(5.0)
    assert adam["edge"] == "lower and upper"


def test_rates_need_a_validation_split(tmp_path: Path) -> None:
    made, runs = rate_study(tmp_path, {"sgd": [None] * 6})
    refuses("held out", ranges.ranges, made, runs)
