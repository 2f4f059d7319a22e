"""Ways to draw batches: their prices against closed forms, the certificate and group privacy."""

import math
from dataclasses import replace

import pytest
from closed_forms import gaussian_epsilon
from dp_accounting import GaussianDpEvent, SelfComposedDpEvent
from dp_accounting.rdp import RdpAccountant
from hypothesis import given
from hypothesis import strategies as st
from refusals import line_of

from dpfl import plugins, samplings
from dpfl.privacy import accounting
from dpfl.samplings import Plan, noise_multiplier, priced

DELTA = 1e-5
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
