"""The figure of a budget's schedule: noise, spent epsilon and accuracy by round."""

from pathlib import Path

import pytest
import synthetic
from plotted import INF, lines, marks
from synthetic import cell, study

from dpfl.figures.kinds import schedule

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


def test_a_run_that_ended_early_has_spent_its_epsilon_and_adds_no_noise(tmp_path: Path) -> None:
    cells = [cell("sgd", 2.0, 2, budget="filter")]
    synthetic.write(
        tmp_path, cells, lambda c, s: {"noise": lambda t: t + s, "rounds": 4 if s else 2}
    )
    noise, spent, _ = schedule.draw(study(cells), tmp_path).figure.axes
    assert lines(noise)["filter"].get_ydata() == pytest.approx([1.5, 2.5, 4, 5])
    assert lines(spent)["filter"].get_ydata() == pytest.approx([0, 0.75, 1.5, 1.75, 2])
