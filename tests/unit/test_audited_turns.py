"""Audits of batches that are not Poisson, and of noise that is of a whole run."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from test_factorizations import STREAMS

from dpfl import samplings
from dpfl.audit import decorrelated
from dpfl.audit.canaries import SILENT, Canaries, Terms
from dpfl.audit.findings import findings
from dpfl.audit.turns import Turns
from dpfl.contracts.turn import Turn
from dpfl.draws import streams
from dpfl.draws.noise import Seeded
from dpfl.factorizations import Factorization
from dpfl.plugins import load
from dpfl.samplings import Plan

DELTA, STEPS, POPULATION, BATCH = 1e-5, 60, 120, 12
TERMS = Terms(gaussian=True, delta=DELTA, level=1e-3)
FRESH = ["shuffled", "cyclic", "fixed-size", "public"]
NOISES = [*(STREAMS | {"tree": {"restart": 20}}).items()]
CORRELATED = [("cyclic", *own) for own in NOISES] + [("cyclic-poisson", "bsr", {"bands": 4})]


def plan_of(sampling, name=None, settings=None, steps=STEPS, z=2.0):
    plan = Plan(BATCH / POPULATION, z, steps, 10 if sampling == "public" else None)
    return samplings.correlated(sampling, plan, name, settings) if name else plan


def certified(sampling, plan):
    return samplings.priced(sampling, plan, samplings.adjacencies(sampling)[0], DELTA).epsilon


def watched(sampling, name=None, settings=None, drawn=None, size=1.0, steps=STEPS, fresh=False):
    """Findings of canaries in a run, whose noise is `size` of what is stated."""
    noise_of = Factorization(name, settings) if name else None
    stream, plan = noise_of.stream() if name else None, plan_of(sampling, name, settings)
    apart = (plan.groups or samplings.batches_of_an_epoch(plan)) if name else 1

    def price(z, taken, often):
        own = plan_of(sampling, name, settings, taken, z)
        return samplings.attained(sampling, own, DELTA)

    turns = Turns(price, samplings.turns(sampling, plan), apart, plan.groups or 1)
    given = {"turns": turns, "made_of": noise_of.made_of if name else None}
    own = Canaries(0, 100, ("turns",), **given)
    draw = drawn or load("samplings", sampling).draw
    for step in range(steps):
        known = np.roll(np.arange(POPULATION), -step * BATCH)[:BATCH].tolist()
        turn = Turn(POPULATION, BATCH, step, lambda *key: Seeded("turns", *key), known, plan.groups)
        own.took(draw(turn), POPULATION, plan.sample_rate)
        rng = streams.rng("noise", step)
        draws = lambda: torch.from_numpy(rng.standard_normal(own.columns))  # noqa: E731, B023
        x = size * 2.0 * (draws() if fresh or not stream else stream.next(draws)).numpy()
        x[own.hits()] += 1
        own.observe(x, 2.0)
        kept = own.state()
        own = Canaries(0, 100, ("turns",), **given)
        own.restore(kept)
    return findings({0: own}, TERMS)


@pytest.mark.parametrize("sampling", FRESH)
def test_fresh_noise_is_found_whatever_the_batches(sampling):
    plan = plan_of(sampling)
    found, halved = (watched(sampling, size=size) for size in (1.0, 0.5))
    assert found["status"] == "audited" and found["checks"].keys() == {"turns", "noise"}
    reached = samplings.attained(sampling, plan, DELTA)
    assert reached <= certified(sampling, plan)
    assert 0.8 * found["ceiling"] < found["epsilon"] < reached < halved["epsilon"]


def test_a_row_whose_place_opposing_ones_take_costs_less_than_its_certificate():
    """Poisson batches at half the noise: at 1 of 10 rows, noise 2 and 60 steps 5.57, not 10.35."""
    plan = plan_of("fixed-size")
    assert samplings.attained("fixed-size", plan, DELTA) == pytest.approx(5.57, abs=0.01)
    assert certified("fixed-size", plan) == pytest.approx(10.35, abs=0.01)


@pytest.mark.parametrize(("sampling", "name", "settings"), CORRELATED)
def test_correlated_noise_is_taken_apart(sampling, name, settings):
    own = sampling, name, settings
    found, limit = watched(*own), certified(sampling, plan_of(*own))
    assert found["status"] == "audited", found
    assert 0.8 * found["ceiling"] < found["epsilon"] < limit
    assert watched(*own, size=0.5)["epsilon"] > limit
    assert watched(*own, fresh=True)["broken"] == ["noise"]


@pytest.mark.parametrize("own", [("shuffled",), ("cyclic", "bsr", {"bands": 4})])
def test_a_run_that_ends_early_costs_what_it_took(own):
    found = watched(*own, steps=STEPS // 3)
    limit = certified(own[0], plan_of(*own, steps=STEPS // 3))
    assert 0.4 * limit < found["epsilon"] < limit


@pytest.mark.parametrize(("name", "settings"), NOISES)
def test_draws_come_out_of_their_noise(name, settings):
    rows = Factorization(name, settings).made_of(20)
    drawn = np.random.default_rng(0).standard_normal((rows.shape[1], 30_000))
    apart = decorrelated.whitening(Factorization(name, settings).made_of, 20) @ rows @ drawn
    np.testing.assert_allclose(apart @ apart.T / 30_000, np.eye(20), atol=0.04)


def test_noise_that_a_file_declares_is_no_repeated_noise():
    """Whatever noise multipliers its steps have."""
    declared, rng = (1.0, -1.0, 1.0), np.random.default_rng(1)
    z = rng.standard_normal((300, SILENT))
    rows = np.array([np.convolve(column, declared)[:300] for column in z.T]).T
    for made_of, broken in ((None, ["noise"]), (decorrelated.of_draws(declared), [])):
        own = Canaries(50, 0, ("declared",), made_of=made_of)
        for step, row in enumerate(rows):
            drawn = streams.rng("drawn", step).random(50) < 0.1
            own.draw(drawn, int(streams.rng("batch", step).binomial(500, 0.1)), 500, 0.1)
            scale = 2.0 if step < 100 else 0.5
            own.observe(np.concatenate([np.zeros(50), scale * row]), scale)
        assert findings({0: own}, replace(TERMS, gaussian=False))["broken"] == broken


def of_file(name):
    return load("samplings", name).draw


def twice(turn):
    return np.repeat(of_file("shuffled")(turn)[: BATCH // 2], 2)


def everybody(turn):
    return np.arange(POPULATION)


BSR = {"name": "bsr", "settings": {"bands": 4}}
WRONG = {
    "other orders": ("shuffled", {"drawn": of_file("fixed-size")}),
    "no order": ("cyclic", {"drawn": of_file("fixed-size")}),
    "an order": ("fixed-size", {"drawn": of_file("cyclic")}),
    "an example twice in a batch": ("shuffled", {"drawn": twice}),
    "steps too near": ("cyclic", BSR | {"drawn": of_file("shuffled")}),
    "everybody, in whole cycles and one step": (
        "cyclic-poisson",
        BSR | {"drawn": everybody, "steps": STEPS + 1},
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_other_batches_than_stated_are_broken(case):
    sampling, given = WRONG[case]
    assert watched(sampling, **given)["broken"] == ["turns"]


def test_without_canaries_nothing_was_attacked():
    own = Canaries(0, 0, ("none",), turns=Turns(lambda *_: 1.0, 1))
    own.took(np.arange(5), 50, 0.1)
    own.observe(np.zeros(SILENT) + np.arange(SILENT), 1.0)
    found = findings({0: own}, replace(TERMS, gaussian=False))
    assert (found["status"], found["epsilon"], found["estimator"]) == ("blind", None, None)
