"""Figures on rates: ranges of learning rates, and the bounds that clip them."""

import io
import itertools
import math
from pathlib import Path

import numpy as np
import pytest
import synthetic
from plotted import GRID, INF, compare, lines
from synthetic import cell, study

from dpfl.figures.kinds import bounds, rates
from dpfl.tables import ranges, results


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


@pytest.mark.parametrize("epsilons", [[4.0], [INF], [2.0, 4.0]])
def test_the_budget_of_rates_stands_in_the_note_or_above_the_panels(
    tmp_path: Path, epsilons: list[float]
) -> None:
    cells = [cell("sgd", e, 1, rate=g) for e in epsilons for g in GRID]
    synthetic.write(tmp_path, cells, lambda c, s: {"final_validation_accuracy": 0.9})
    figure = rates.draw(study(cells, name="rates", kind="rates"), tmp_path).figure
    note = " ".join(
        text.get_text() for text in figure.texts + [k.get_title() for k in figure.legends]
    )
    told = {
        4.0: "At ε\xa0=\xa04, n\xa0=\xa01 per rate",
        INF: "Without privacy, n\xa0=\xa01 per rate",
    }
    if len(epsilons) == 1:
        assert told[epsilons[0]] in note.replace("\n", " ")
    else:
        assert "ε = 4" in figure.axes[1].get_title("left")


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


@pytest.mark.parametrize(("index", "told"), [(1, "narrowest: SGD at ε = 4, "), (0, "")])
def test_a_range_that_ends_with_the_grid_is_not_called_the_narrowest(
    tmp_path: Path, index: int, told: str
) -> None:
    """SGD is good at one rate alone, Adam at two others, AdaBelief nowhere."""
    good = {"sgd": {GRID[index]}, "adam": {GRID[1], GRID[2]}, "adabelief": set()}
    cells = [cell(m, 4.0, 1, rate=g) for m in good for g in GRID]

    def outcome(own: dict, seed: int) -> dict:
        fits = own["variant"]["rate"] in good[own["method"]]
        return {"final_validation_accuracy": 0.9 if fits else 0.2}

    synthetic.write(tmp_path, cells, outcome)
    said = rates.draw(study(cells, name="rates", kind="rates"), tmp_path).finding
    assert said.startswith("Widest range of good rates: Adam at ε = 4, ")
    assert "; no good rate: AdaBelief at ε = 4" in said
    assert (told in said) if told else ("narrowest" not in said)


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
