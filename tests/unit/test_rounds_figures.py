"""Figures by round: accuracy, and what a budget's schedule does."""

from pathlib import Path

import pytest
from plotted import INF, draw, lines, marks, titles
from synthetic import cell


def test_convergence_shows_mean_and_extremes_of_the_seeds(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 3), cell("adam", 2.0, 3), cell("sgd", INF, 1)]
    private, free = draw(
        "convergence", tmp_path, cells, lambda c, s: {"curve": lambda t: 0.1 + 0.2 * t + 0.01 * s}
    ).figure.axes
    assert titles([private, free]) == ["ε = 2, n = 3", "non-private (ε = ∞), n = 1"]
    assert lines(private)["SGD"].get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert lines(private)["SGD"].get_ydata() == pytest.approx([11, 31, 51, 71, 91])
    band = private.collections[0].get_paths()[0].vertices
    assert band[band[:, 0] == 2][:, 1].min() == pytest.approx(50)
    assert band[band[:, 0] == 2][:, 1].max() == pytest.approx(52)


def test_a_run_that_ended_early_keeps_its_last_accuracy_in_the_mean(tmp_path: Path) -> None:
    reached = {0: 0.6, 1: 0.8}

    def outcome(own: dict, seed: int) -> dict:
        return {"curve": lambda t: reached[seed] + 0.02 * t, "rounds": 2 if seed else 4}

    [ax] = draw("convergence", tmp_path, [cell("sgd", 2.0, 2)], outcome).figure.axes
    line = lines(ax)["SGD"]
    assert line.get_xdata().tolist() == [0, 1, 2, 3, 4]
    assert line.get_ydata() == pytest.approx([70, 72, 74, 75, 76])


@pytest.mark.parametrize("best", [0.5, 0.98])
def test_convergence_stretches_only_high_accuracies(tmp_path: Path, best: float) -> None:
    cells = [cell("sgd", 2.0, 1)]
    [ax] = draw("convergence", tmp_path, cells, lambda c, s: {"accuracy": best}).figure.axes
    assert ax.get_yscale() == ("function" if best > 0.8 else "linear")


NOISE = {"uniform": lambda t: 1.0, "decay": lambda t: 0.5 + 0.2 * t}


def budgets(tmp_path: Path, *epsilons: float, **baseline: str):
    """Draw two strategies, the second of which runs out of budget after three of four rounds."""
    cells = [cell("sgd", e, 2, budget=b) for b in NOISE for e in epsilons]

    def outcome(own: dict, seed: int) -> dict:
        budget = own["variant"]["budget"]
        return {
            "noise": NOISE[budget],
            "rounds": 4 if budget == "uniform" else 3,
            "accuracy": 0.93 + 0.02 * seed if budget == "uniform" else 0.93 - 0.02 * seed + 0.01,
        }

    return draw("schedule", tmp_path, cells, outcome, baseline=baseline).figure


def test_schedule_shows_noise_epsilon_and_accuracy_by_round(tmp_path: Path) -> None:
    figure = budgets(tmp_path, 2.0, 8.0, budget="uniform")
    noise, spent, reached = figure.axes[:3]
    assert len(figure.axes) == 6
    assert titles(figure.axes[::3]) == ["ε = 2", "ε = 8"]
    decay = lines(noise)["decay"]
    assert decay.get_xdata().tolist() == [1, 2, 3]  # round 0 has no noise, round 4 no budget
    assert decay.get_ydata() == pytest.approx([0.7, 0.9, 1.1])
    assert lines(noise)["uniform"].get_ydata().tolist() == [1, 1, 1, 1]
    assert lines(spent)["uniform"].get_ydata() == pytest.approx([0, 0.5, 1, 1.5, 2])
    assert lines(spent)["_budget"].get_ydata()[0] == 2
    assert lines(figure.axes[4])["_budget"].get_ydata()[0] == 8
    assert lines(reached)["decay"].get_xdata() == pytest.approx([-1])
    assert sorted(marks(reached, "_seeds")[:, 0]) == pytest.approx([-3, 0, 0, 1])
    assert figure.get_suptitle().startswith("Decay: -1.0 point against uniform at ε")


def test_schedule_without_a_baseline_shows_accuracies(tmp_path: Path) -> None:
    _, _, reached = budgets(tmp_path, 2.0, INF).axes
    assert lines(reached)["decay"].get_xdata() == pytest.approx([93])


def test_a_run_that_ended_early_has_spent_its_epsilon_and_adds_no_noise(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2, budget="filter")]
    noise, spent, _ = draw(
        "schedule",
        tmp_path,
        cells,
        lambda c, s: {"noise": lambda t: t + s, "rounds": 4 if s else 2},
    ).figure.axes
    assert lines(noise)["filter"].get_ydata() == pytest.approx([1.5, 2.5, 4, 5])
    assert lines(spent)["filter"].get_ydata() == pytest.approx([0, 0.75, 1.5, 1.75, 2])
