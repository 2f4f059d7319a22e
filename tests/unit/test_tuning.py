"""Rules of tuning: what they try and choose, in a fixed number of trials; how seldom they err."""

import math
from itertools import chain

import numpy as np
import pytest
import tuning_simulation as simulation
from hypothesis import given, settings
from hypothesis import strategies as st

from dpfl import plugins
from dpfl.contracts.points import Point, Stage
from dpfl.tuning import bisect
from dpfl.tuning.parts import rules

RULES = plugins.names("tuning")
ALONG = Stage(2, along="rate")


def tried(*accuracies: float, rates: tuple[float, ...] = (0.01, 0.1, 1.0, 10.0)) -> list[Point]:
    """One trial of each rate."""
    pairs = zip(rates, accuracies, strict=False)
    return [Point({"rate": rate}, (accuracy,)) for rate, accuracy in pairs]


def run(rule: str, grid: list[dict], accuracy, seeds: tuple[int, ...] = (0,)):
    """Run a rule to its end; return all trials by stage, and the chosen values."""
    trials = [[(v, [accuracy(v, s) for s in seeds]) for v in grid]]
    module = plugins.load("tuning", rule)
    for stage in rules.stages(rule, list(grid[0])):
        named = module.propose(rules.points(chain(*trials)), stage)
        assert len(named) == stage.slots
        more = [max(seeds) + 1 + i for i in range(stage.more_seeds)] or seeds
        trials.append([(v, [accuracy(v, s) for s in more]) for v in named])
    points = rules.points(chain(*trials))
    return trials, points[module.choose(points)].values


@pytest.mark.parametrize(
    ("accuracies", "expected"),
    [
        ((0.5, 0.9, 0.8, 0.1), [math.sqrt(0.001), math.sqrt(0.1)]),
        ((0.9, 0.8, 0.7, 0.1), [0.001, math.sqrt(0.001)]),
        ((0.1, 0.2, 0.3, 0.4), [math.sqrt(10), 100]),
    ],
)
def test_middles_are_tried_and_at_an_edge_the_grids_factor_outwards(accuracies, expected):
    found = bisect.propose(tried(*accuracies), ALONG)
    assert [v["rate"] for v in found] == pytest.approx(expected, rel=5e-3)


def test_it_widens_twice_by_the_grids_factor_while_the_best_is_at_the_end():
    trials, chosen = run("bisect", [{"rate": r} for r in (0.1, 1.0, 10.0)], lambda v, s: v["rate"])
    assert max(v["rate"] for stage in trials for v, _ in stage) == 1000
    assert chosen["rate"] == 1000


def test_the_two_best_get_the_new_seeds():
    found = bisect.propose(tried(0.5, 0.9, 0.8, 0.1), Stage(2, more_seeds=2))
    assert [v["rate"] for v in found] == [0.1, 1.0]


def chosen_of(*points: tuple[float, ...]) -> float:
    """Return the rate that bisect chooses of 1, 2, 3, ... with these accuracies."""
    made = [Point({"rate": float(r)}, a) for r, a in enumerate(points, 1)]
    return made[bisect.choose(made)].values["rate"]


def test_a_lower_value_within_one_standard_error_of_the_best_is_chosen():
    # 0.90, 0.92, 0.94 have the mean 0.92 and the standard error 0.02 / sqrt(3) = 0.0115.
    best = (0.90, 0.92, 0.94)
    assert chosen_of((0.909, 0.909, 0.909), best) == 1
    assert chosen_of((0.908, 0.908, 0.908), best) == 2
    assert chosen_of(best, (0.919, 0.919, 0.919)) == 1


def test_a_value_of_one_seed_is_not_chosen_before_those_of_three():
    assert chosen_of((0.99,), (0.9, 0.92, 0.94), (0.8, 0.8, 0.8)) == 2


@pytest.mark.parametrize(("best", "told"), [(0.14, False), (0.16, True)])
def test_a_network_has_learned_where_it_is_clearly_better_than_guessing(best, told):
    assert rules.learned(tried(0.1, best, 0.09), "mnist") is told


def test_equal_accuracies_go_to_the_lowest_values():
    assert rules.best(tried(0.5, 0.9, 0.9, 0.1)) == 1
    grid = plugins.load("tuning", "grid")
    assert grid.choose(tried(0.9, 0.9, rates=(3.0, 1.0))) == 1


def test_equal_values_are_one_point_with_all_their_seeds():
    found = rules.points([({"rate": 1.0}, [0.5]), ({"rate": 2.0}, [0.6]), ({"rate": 1.0}, [0.7])])
    assert [(p.values["rate"], p.accuracies) for p in found] == [(1.0, (0.5, 0.7)), (2.0, (0.6,))]


accuracies = st.lists(st.floats(0, 1), min_size=60, max_size=60)
factors = st.floats(1.5, 10)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("keys", [("rate",), ("rate", "clip_norm")])
@settings(max_examples=30, deadline=None)
@given(values=accuracies, factor=factors)
def test_whatever_comes_out_the_number_of_trials_is_the_same(rule, keys, values, factor):
    grid = [{"rate": factor**i} for i in range(3)]
    if len(keys) == 2:
        grid = [own | {"clip_norm": norm} for own in grid for norm in (0.1, 1.0)]
    left = iter(values)
    trials, chosen = run(rule, grid, lambda v, s: next(left))
    expected = [len(grid), *(stage.slots for stage in rules.stages(rule, keys))]
    assert [len(stage) for stage in trials] == expected
    shown = [
        tuple(v.values()) for stage in trials[: -1 if len(expected) > 1 else None] for v, _ in stage
    ]
    assert len(set(shown)) == len(shown)  # nothing is tried twice before the last stage
    assert chosen in [v for stage in trials for v, _ in stage]
    assert all(0 < value < math.inf for stage in trials for v, _ in stage for value in v.values())


def test_two_settings_are_bisected_one_after_the_other():
    peak = {"rate": 0.4, "clip_norm": 0.35}

    def accuracy(values, seed):
        return -sum(math.log(values[key] / peak[key]) ** 2 for key in values)

    grid = [{"rate": r, "clip_norm": c} for r in (0.1, 1.0, 10.0) for c in (0.1, 1.0)]
    trials, chosen = run("bisect", grid, accuracy)
    assert [len(stage) for stage in trials] == [6, 2, 2, 2, 2, 2]
    varied = [{k for k in peak if stage[0][0][k] != stage[1][0][k]} for stage in trials[1:5]]
    assert varied == [{"rate"}, {"clip_norm"}, {"rate"}, {"clip_norm"}]
    assert accuracy(chosen, 0) > max(accuracy(v, 0) for v in grid)


@pytest.fixture(scope="module")
def simulated():
    return {rule: simulation.errors(rule) for rule in simulation.RULES}


@pytest.mark.parametrize("pairing", simulation.DIFFERENCE_SD)
def test_two_equal_methods_are_seldom_told_apart_by_more_than_half_the_margin(simulated, pairing):
    for rule in (simulation.SHIPPED, simulation.RULES[-1]):
        assert simulated[rule][f"holds, {pairing}"] <= 0.05


def test_noisier_trials_and_steeper_curves_leave_false_claims_rare(monkeypatch):
    """Trials as on Fashion-MNIST, and curves that fall off above the peak, where training fails."""
    rule = simulation.RULES[-1]

    def falling(cls, rng, low, high):
        left, right = rng.uniform([0.3, 3], [0.8, 20]) / np.log(simulation.AWAY) ** 2
        return cls(np.exp(rng.uniform(np.log(low), np.log(high))), left, right)

    for trial_sd, sd, cost in ((1.0, 0.48, (0.6, 1.4)), (0.8, 0.4, None)):
        monkeypatch.setattr(simulation, "TRIAL_SD", trial_sd)
        monkeypatch.setattr(simulation, "DIFFERENCE_SD", {"paired": sd})
        if cost:
            monkeypatch.setattr(simulation, "COST", cost)
        else:
            monkeypatch.setattr(simulation.Curve, "drawn", classmethod(falling))
        found = simulation.errors(rule, 1000)
        assert found["holds, paired"] <= 0.05 < found["above 0, paired"]


@pytest.mark.parametrize("pairing", simulation.DIFFERENCE_SD)
def test_a_coarse_grid_alone_would_fail(simulated, pairing):
    coarse, shipped = simulated[simulation.RULES[0]], simulated[simulation.SHIPPED]
    assert coarse[f"holds, {pairing}"] > 0.1
    assert coarse[f"above 0, {pairing}"] > 3 * shipped[f"above 0, {pairing}"]


def test_the_documented_table_is_that_of_the_simulation(root, simulated):
    assert simulation.table(simulated) in (root / "docs" / "statistics.md").read_text(
        encoding="utf-8"
    )
