"""Figures hold the numbers of the runs: lines, bands and bars are read back, not pixels."""

import io
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import synthetic
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from scipy import stats
from synthetic import CLAIM, cell, study

from dpfl.plots import _style, accuracy, bounds, convergence, rates, variants

INF = math.inf
HEADER = bytes([137]) + b"PNG"


def lines(ax: Axes) -> dict[str, Line2D]:
    return {line.get_label(): line for line in ax.lines}


def segments(ax: Axes) -> list[np.ndarray]:
    """The error bars of an axes."""
    return [s for c in ax.collections if hasattr(c, "get_segments") for s in c.get_segments()]


def compare(tmp_path: Path, seeds: int = 3):
    cells = [cell(m, e, seeds) for m in ("sgd", "cadabelief") for e in (2.0, 8.0)]
    cells += [cell(m, INF, 1) for m in ("sgd", "cadabelief")]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": value(c, s)})
    return study(cells, claims=[CLAIM])


def value(own: dict, seed: int) -> float:
    base = {2.0: 0.90, 8.0: 0.95, "inf": 0.99}[own["epsilon"]]
    return base + 0.002 * seed + 0.005 * (own["method"] == "cadabelief")


def test_accuracy_shows_means_and_intervals(tmp_path: Path) -> None:
    ax = accuracy.draw(compare(tmp_path), tmp_path).axes[0]
    sgd = lines(ax)["sgd"]
    assert sgd.get_ydata() == pytest.approx([90.2, 95.2])
    assert np.round(sgd.get_xdata()).tolist() == [0, 1]
    sample = [100 * value({"epsilon": 2.0, "method": "sgd"}, s) for s in range(3)]
    limits = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    first = min(segments(ax), key=lambda s: s[0, 0])
    assert sorted(first[:, 1]) == pytest.approx([limits.low, limits.high])
    assert len(segments(ax)) == 4  # one seed has no interval


def test_accuracy_puts_the_non_private_runs_apart_at_the_right(tmp_path: Path) -> None:
    ax = accuracy.draw(compare(tmp_path), tmp_path).axes[0]
    ticks = [tick.get_text() for tick in ax.get_xticklabels()]
    assert ticks == ["2\nn = 3", "8\nn = 3", "non-private\nn = 1"]
    apart = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert sorted(float(line.get_ydata()[0]) for line in apart) == pytest.approx([99.0, 99.5])
    assert all(1.5 < line.get_xdata()[0] < 2.5 for line in apart)


def test_a_huge_interval_does_not_stretch_the_accuracy_figure(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2), cell("adam", 2.0, 2)]
    values = {"sgd": [0.9, 0.9], "adam": [0.8, 0.96]}
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": values[c["method"]][s]})
    ax = accuracy.draw(study(cells), tmp_path).axes[0]
    low, high = ax.get_ylim()
    assert 80 < low < 88 and 90 < high < 100
    assert any(abs(np.diff(s[:, 1])[0]) > 100 for s in segments(ax))


def test_methods_do_not_share_colour_or_marker_and_keep_them() -> None:
    looks = _style.looks([*_style.ORDER, "new"])
    for part in ("colour", "marker"):
        assert len({getattr(look, part) for look in looks.values()}) == len(looks)
    assert _style.looks(["sgd"])["sgd"] == looks["sgd"]
    assert _style.ordered(["new", "cadabelief", "sgd"]) == ["sgd", "cadabelief", "new"]


def test_convergence_shows_mean_and_extremes_of_the_seeds(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3), cell("sgd", INF, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {"curve": lambda t: 0.1 + 0.2 * t + 0.01 * s})
    figure = convergence.draw(study(cells), tmp_path)
    private, free = figure.axes
    assert private.get_title("left") == "ε = 2, n = 3"
    assert free.get_title("left") == "non-private (ε = ∞), n = 1"
    assert lines(private)["sgd"].get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert lines(private)["sgd"].get_ydata() == pytest.approx([11, 31, 51, 71, 91])
    band = private.collections[0].get_paths()[0].vertices
    assert band[band[:, 0] == 2][:, 1].min() == pytest.approx(50)
    assert band[band[:, 0] == 2][:, 1].max() == pytest.approx(52)


@pytest.mark.parametrize("best", [0.5, 0.98])
def test_convergence_stretches_only_high_accuracies(tmp_path: Path, best: float) -> None:
    cells = [cell("sgd", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": best})
    ax = convergence.draw(study(cells), tmp_path).axes[0]
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
    sgd, adabound = rates.draw(made, tmp_path).axes
    assert sgd.get_xscale() == "log"
    own = lines(sgd)["lr"]
    assert (own.get_xdata().tolist(), own.get_ydata().tolist()) == (GRID, curves["sgd"])
    assert lines(sgd)["_diverges"].get_xdata().tolist() == [1.0]
    assert lines(sgd)["_good"].get_xdata().tolist() == [0.01, 0.1]
    assert adabound.get_title("left") == "adabound"


def test_a_second_rate_looks_different(tmp_path: Path) -> None:
    made, curves = rate_study(tmp_path)
    found = lines(rates.draw(made, tmp_path).axes[1])
    assert found["lr"].get_ydata().tolist() == curves["adabound"]
    assert found["final_lr"].get_ydata().tolist() == curves["adabound-final"]
    assert found["lr"].get_linestyle() == "-" != found["final_lr"].get_linestyle()
    assert found["final_lr"].get_markerfacecolor() == "white" != found["lr"].get_markerfacecolor()


def test_bounds_show_the_bounds_the_quantiles_and_the_clipped_share(tmp_path: Path) -> None:
    made = compare(tmp_path)
    figure = bounds.draw(made, tmp_path)
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


def test_huge_rates_do_not_stretch_the_bounds_figure(tmp_path: Path) -> None:
    cells = [cell("cadabelief", INF, 1)]
    huge = (0.01, 0.02, 0.05, 0.1, 1e7, 0.0, 0.3)
    synthetic.write(tmp_path, cells, lambda c, s: {"quantiles": lambda step: huge})
    upper = bounds.draw(study(cells), tmp_path).axes[0]
    assert 10.1 < upper.get_ylim()[1] < 1e3


def test_bounds_prefer_the_claimed_method(tmp_path: Path) -> None:
    cells = [cell("adabound", 2.0, 1), cell("cadabelief", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    claimed = bounds.draw(study(cells, claims=[CLAIM]), tmp_path)
    assert claimed.get_suptitle().startswith("cadabelief")
    assert bounds.draw(study(cells), tmp_path).get_suptitle().startswith("adabound")


def test_bounds_of_a_study_without_bounds_say_so(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 1)]
    synthetic.write(tmp_path, cells, lambda c, s: {})
    [ax] = bounds.draw(study(cells), tmp_path).axes
    assert "no run recorded a bounded rate" in ax.texts[0].get_text()


def test_variants_show_a_dot_and_an_interval_each(tmp_path: Path) -> None:
    states = {"persist": 0.95, "reset": 0.93, "server": 0.94}
    cells = [cell("cadabelief", 2.0, 3, state=s) for s in states]
    cells += [cell("adabelief", 2.0, 1, state="persist"), cell("adabelief", 8.0, 1, state="reset")]
    synthetic.write(
        tmp_path, cells, lambda c, s: {"accuracy": states[c["variant"]["state"]] + 0.01 * s}
    )
    left, right = variants.draw(study(cells, kind="variants"), tmp_path).axes
    names = [tick.get_text() for tick in left.get_yticklabels()]
    assert names == ["state=persist", "state=reset", "state=server"]
    own = lines(left)["cadabelief"]
    assert own.get_xdata() == pytest.approx([96, 94, 95])
    assert np.round(own.get_ydata()).tolist() == [0, 1, 2]
    limits = stats.ttest_1samp([95, 96, 97], 0).confidence_interval(0.95)
    assert segments(left)[0][:, 0] == pytest.approx([limits.low, limits.high])
    assert len(segments(left)) == 3
    assert lines(right)["adabelief"].get_xdata() == pytest.approx([93])


@pytest.mark.parametrize("figure", [accuracy, convergence, bounds, variants])
def test_one_seed_is_enough(tmp_path: Path, figure) -> None:
    made = compare(tmp_path, seeds=1)
    buffer = io.BytesIO()
    figure.draw(made, tmp_path).savefig(buffer, format="png")
    assert buffer.getvalue().startswith(HEADER)


def test_the_driver_writes_both_formats_with_equal_bytes(tmp_path: Path, root: Path) -> None:
    made = compare(tmp_path, seeds=2)
    for folder in ("a", "b"):
        arguments = ["--study", json.dumps(made), "--figure", "accuracy", "--runs", tmp_path]
        output = ["--output", tmp_path / folder / "accuracy"]
        driver = [sys.executable, root / "workflow/scripts/plot.py"]
        subprocess.run([*driver, *arguments, *output], check=True)
    written = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert written == ["accuracy.pdf", "accuracy.png"]
    for name in written:
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
