"""Figures on what was varied: values, budgets by round, clients."""

from pathlib import Path

import numpy as np
import pytest
import synthetic
from plotted import INF, below, compare, lines, marks, segments, value
from scipy import stats
from synthetic import cell, study

from dpfl.figures import looks
from dpfl.plots import (
    _cost,
    accuracy,
    clients,
    schedule,
    variants,
)
from dpfl.privacy import accounting


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


def test_values_do_not_share_colour_or_marker() -> None:
    found = looks.numbered("abcdefghij")
    for part in ("colour", "marker"):
        assert len({getattr(look, part) for look in found.values()}) == 10
    assert list(looks.numbered(["b", "a", "b"])) == ["b", "a"]
