"""Ways to draw batches: their prices against closed forms, the certificate and group privacy."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from closed_forms import gaussian_epsilon
from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from refusals import line_of

from dpfl import plugins, samplings
from dpfl.contracts.schedule import Budget, Work
from dpfl.contracts.turn import Turn
from dpfl.draws import noise
from dpfl.factorizations import Factorization, Run
from dpfl.privacy import accounting
from dpfl.samplings import Plan, noise_multiplier, priced

DELTA = 1e-5
OF_VARYING_SIZE = {"poisson", "cyclic-poisson"}
PLAN = Plan(64 / 6000, 1.173, 1860)
PAIRS = [(name, own) for name in plugins.names("samplings") for own in samplings.adjacencies(name)]
GIVEN = {"public": {"participations": 20}, "cyclic-poisson": {"groups": 2, "sensitivity": 1.5}}


def test_poisson_batches_cost_what_training_certifies():
    own = accounting.epsilon(PLAN.sample_rate, PLAN.noise_multiplier, PLAN.steps, DELTA)
    assert priced("poisson", PLAN, "add-or-remove-one", DELTA) == ("pld", own)


def test_replacing_costs_more_than_removing_and_less_than_removing_and_adding():
    replaced = priced("poisson", PLAN, "replace-one", DELTA).epsilon
    one = priced("poisson", PLAN, "add-or-remove-one", DELTA).epsilon
    delta = DELTA / (1 + math.exp(2 * one))
    half = accounting.epsilon(PLAN.sample_rate, PLAN.noise_multiplier, PLAN.steps, delta)
    assert one < replaced < 2 * half


def test_whole_batches_are_gaussians_whatever_their_sampling():
    plan = Plan(1.0, 9.0, 25)
    exact = gaussian_epsilon(10 / 9, DELTA)
    assert priced("shuffled", plan, "replace-one", DELTA).epsilon == pytest.approx(exact, rel=1e-6)
    pld = priced("poisson", plan, "replace-one", DELTA).epsilon
    assert exact <= pld * (1 + 1e-9) <= exact + 3e-3
    rdp = RdpAccountant().compose(SelfComposedDpEvent(GaussianDpEvent(4.5), 25))
    found = priced("fixed-size", plan, "replace-one", DELTA)
    assert found == ("rdp", pytest.approx(rdp.get_epsilon(DELTA), rel=1e-9))
    assert found.epsilon > exact


@given(st.integers(1, 50), st.integers(1, 300), st.floats(0.05, 5))
def test_once_an_epoch_is_one_gaussian_of_as_many_epochs(epoch, steps, mu):
    taken = math.ceil(steps / epoch)
    plan = Plan(1 / epoch, 2 * math.sqrt(taken) / mu, steps)
    assert samplings.participations(plan) == taken
    for name in ("shuffled", "cyclic"):
        for adjacency, moved in (("zero-out", 1), ("replace-one", 2)):
            told = "gaussian", pytest.approx(gaussian_epsilon(moved * mu / 2, DELTA), rel=1e-6)
            assert priced(name, plan, adjacency, DELTA) == told


@pytest.mark.parametrize(("bands", "longest"), [(1, 1.0), (2, math.sqrt(1.25))])
def test_banded_noise_is_amplified_among_the_examples_of_a_group(bands, longest):
    plan = samplings.correlated("cyclic-poisson", PLAN, "bsr", {"bands": str(bands)})
    own = bands * PLAN.sample_rate, PLAN.noise_multiplier / longest, PLAN.steps // bands
    found = priced("cyclic-poisson", plan, "add-or-remove-one", DELTA)
    assert found.epsilon == pytest.approx(accounting.epsilon(*own, DELTA))


def test_known_cohorts_are_priced_by_who_takes_part_most_often():
    """A right clip, noise .95, the most of 34 rounds: 37.0 at delta 1e-3 by plain Gaussians."""
    plan = Plan(0.1, 0.95, 200, participations=34)
    assert priced("public", plan, "zero-out", 1e-3).epsilon == pytest.approx(37.0, abs=0.05)


@pytest.mark.parametrize(("name", "adjacency"), PAIRS)
def test_the_least_noise_meets_its_target(name, adjacency):
    plan = Plan(0.05, 1.0, 60, **GIVEN.get(name, {}))
    z = noise_multiplier(name, plan, adjacency, 3.0, DELTA)
    found = priced(name, replace(plan, noise_multiplier=z), adjacency, DELTA).epsilon
    assert 3 * (1 - 1e-3) <= found <= 3


@pytest.mark.parametrize(
    ("name", "plan", "told"),
    [
        ("public", PLAN, "participations is missing"),
        ("public", Plan(0.1, 1.0, 20, 21), "participations is 21, must be in [1, 20]"),
        ("public", Plan(0.1, 1.0, 20, 0), "participations is 0, must be in [1, 20]"),
        ("poisson", Plan(0.1, 1.0, 20, 2), "participations is 2: batches are drawn anew"),
        ("shuffled", Plan(0.1, 1.0, 20, 1), "must be in [2, 20], of 20 steps and 10 batches an ep"),
        ("shuffled", Plan(0.1, 0.0, 20), "noise_multiplier is 0.0, must be > 0"),
        ("cyclic", Plan(2.0, 1.0, 20), "sample_rate is 2.0, must be in (0, 1]"),
        ("cyclic-poisson", PLAN, "is for banded noise; give a factorization"),
        ("cyclic-poisson", Plan(0.3, 1.0, 20, groups=4, sensitivity=1.0), "is 1.2, must be at m"),
        ("shuffle", PLAN, "did you mean 'shuffled'?"),
    ],
)
def test_mistakes_are_one_line(name, plan, told):
    adjacency = "zero-out" if "shuffle" in name or name in ("public", "cyclic") else "replace-one"
    assert told in line_of(priced, name, plan, adjacency, DELTA)


def turn(population, size, step, seed=0, known=()):
    return Turn(population, size, step, lambda *key: noise.Seeded("turns", seed, *key), known)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(0, 3), st.integers(0, 2**32))
def test_orders_deal_everybody_out_once_an_epoch(size, more, epoch, seed):
    population = size + more
    batches = population // size
    for name, epochs in {"shuffled": epoch, "cyclic": 0}.items():
        draw = plugins.load("samplings", name).draw
        first, again = (
            [draw(turn(population, size, own * batches + at, seed)) for at in range(batches)]
            for own in (epochs, epoch)
        )
        dealt = np.concatenate(first)
        assert len({*dealt.tolist()}) == len(dealt) == batches * size
        assert all(np.array_equal(*pair) for pair in zip(first, again, strict=True))


def test_an_epoch_has_an_order_of_its_own_only_where_batches_are_shuffled():
    for name, alike in (("shuffled", False), ("cyclic", True)):
        first, second = (plugins.load("samplings", name).draw(turn(50, 5, at)) for at in (3, 13))
        assert np.array_equal(first, second) == alike


@pytest.mark.parametrize("name", sorted({*plugins.names("samplings")} - OF_VARYING_SIZE))
def test_a_batch_is_as_large_as_it_is_priced_and_the_same_again(name):
    draw = plugins.load("samplings", name).draw
    for step in range(7):
        first, again = (draw(turn(53, 10, step, known=range(10))) for _ in range(2))
        assert len({*first.tolist()}) == len(first) == 10 and {*first.tolist()} <= {*range(53)}
        assert np.array_equal(first, again)


def test_groups_take_turns_and_draw_by_poisson():
    draw = plugins.load("samplings", "cyclic-poisson").draw
    drawn = [draw(replace(turn(90, 12, step), groups=3)) for step in range(3000)]
    counts = [np.bincount(np.concatenate(drawn[at::3]), minlength=90) for at in range(3)]
    members = [np.flatnonzero(own) for own in counts]
    assert sorted(np.concatenate(members).tolist()) == [*range(90)]  # one group each
    for own, there in zip(counts, members, strict=True):
        # Each member is drawn with probability .4: six standard deviations of 1,000 turns.
        assert abs(own[there] / 1000 - 0.4).max() < 6 * math.sqrt(0.24 / 1000)
    fewer = draw(replace(turn(89, 12 * 89 / 90, 0), groups=3))  # one is removed
    assert np.array_equal(fewer, drawn[0][drawn[0] < 89])


@given(st.integers(1, 30), st.integers(0, 30), st.integers(0, 5))
def test_batches_of_one_size_hold_nobody_twice(size, more, step):
    drawn = plugins.load("samplings", "fixed-size").draw(turn(size + more, size, step))
    assert len({*drawn.tolist()}) == len(drawn) == size and drawn.max() < size + more
    assert plugins.load("samplings", "public").draw(turn(9, 2, step, known=[3, 7])).tolist() == [
        3,
        7,
    ]


def test_everybody_is_drawn_equally_often():
    draw = plugins.load("samplings", "fixed-size").draw
    counts = sum(np.bincount(draw(turn(20, 5, step)), minlength=20) for step in range(4000))
    # Chi-squared of 19 degrees, of a hypergeometric variance: .9999 lies below 51.
    assert ((counts - 1000) ** 2).sum() / (1000 * 0.75) * 19 / 20 < 51


WORK, BUDGET = Work(0.1, 10, 6), Budget(4.0, DELTA)


@pytest.mark.parametrize("name", ["shuffled", "cyclic", "fixed-size"])
def test_a_run_spends_its_budget_and_no_more(name):
    found = samplings.calibrated(name, name, WORK, BUDGET)
    plan = Plan(0.1, found["noise"], 60)
    assert found["spent"] == sorted(found["spent"]) and len(found["spent"]) == 6
    assert found["spent"][-1] == priced(name, plan, found["adjacency"], DELTA).epsilon
    assert 4 - 1e-3 < found["spent"][-1] <= 4


def test_what_is_charged_as_poisson_costs_what_is_drawn():
    found = samplings.calibrated("shuffled", "poisson", WORK, BUDGET)
    assert accounting.epsilon(0.1, found["noise"], 60, DELTA) == pytest.approx(4, rel=1e-3)
    exact = gaussian_epsilon(math.sqrt(6) / found["noise"], DELTA)
    assert found["spent"][-1] == pytest.approx(exact, rel=1e-6) and exact > 8
    assert (found["adjacency"], found["accountant"]) == ("zero-out", "gaussian")


def test_public_cohorts_are_counted():
    found = samplings.calibrated("public", "public", Work(0.2, 1, 50), BUDGET, participations=17)
    assert found["spent"][16] == found["spent"][-1] <= 4 and found["spent"][15] < found["spent"][16]
    exact = gaussian_epsilon(math.sqrt(17) / found["noise"], DELTA)
    assert found["spent"][-1] == pytest.approx(exact, rel=1e-6)


def test_noise_of_a_run_is_priced_for_the_batches_that_are_drawn():
    noise = {"uses": "bsr", "bands": 3}
    found = samplings.calibrated("cyclic", "cyclic", WORK, BUDGET, factorization=noise)
    run = Run(60, 6, 10)
    sensitivity = Factorization("bsr", {"bands": 3}).sensitivity(run)
    exact = gaussian_epsilon(sensitivity / found["noise"], DELTA)
    assert found["spent"] == [pytest.approx(exact, rel=1e-6)] * 6 and 4 - 1e-3 < exact <= 4
    other = partial(samplings.calibrated, "cyclic", "cyclic-poisson", WORK, BUDGET)
    assert "not with a factorization" in line_of(other, factorization=noise)
