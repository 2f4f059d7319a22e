"""Every plug-in with a proof, attacked by canaries: no lower bound lies above its certificate."""

import numpy as np
import pytest
import torch
from every_mechanism import small_builds
from test_replay import UNITS

from dpfl import plugins
from dpfl.audit.audited import audited
from dpfl.audit.canaries import Canaries, Terms
from dpfl.audit.findings import findings
from dpfl.audit.trials import CLIP, Batch, Clients, Examples, drawn
from dpfl.draws import noise, streams
from dpfl.privacy.accounting import epsilon

STEPS, CANARIES, RATE, DELTA, Z, EXPECTED = 300, 100, 0.1, 1e-5, 1.3, 10.0
CERTIFICATE = epsilon(RATE, Z, STEPS, DELTA)
TERMS = Terms(gaussian=True, delta=DELTA, level=1e-3)
BATCH = drawn([0.05, 0.5, 5.0], "audited")


def appends(name):
    """Tell whether a mechanism lets coordinates be appended to its gradients."""
    return not plugins.constant("mechanisms", name, "OWN_GRADIENTS")


ALL = {
    name: (lambda around, build=build: build(around=around), UNITS[unit](Z, EXPECTED), has_proof)
    for name, (build, unit, has_proof) in small_builds(appends).items()
}
WATCHED = {name: found[:2] for name, found in ALL.items() if found[2]}


def attacked(build, unit: Examples | Clients, batch: Batch = BATCH, part=1.0):
    """Return what canaries find in many steps, whose noise is a `part` of what is drawn."""
    canaries = Canaries(CANARIES, CANARIES, ("contract", "canaries"))
    mechanism = audited(build, canaries, CLIP)
    for step in range(STEPS):
        sampled = streams.rng("contract", step).random(CANARIES) < RATE
        canaries.draw(sampled, len(batch.targets), 30, RATE)
        draws = noise.Seeded("contract", "noise", step)
        normal = lambda size, draws=draws: draws.normal(size) * part  # noqa: E731
        unit.take(mechanism, batch, normal, step, 0)
    return findings({0: canaries}, TERMS)


@pytest.mark.parametrize("name", WATCHED)
def test_no_lower_bound_lies_above_the_certificate(name):
    found = attacked(*WATCHED[name])
    assert 0.3 * CERTIFICATE < found["epsilon"] <= CERTIFICATE
    assert found["checks"]["noise"] > 1e-6 and found["checks"].get("counts", 1) > 1e-6


@pytest.mark.parametrize("name", WATCHED)
def test_half_of_the_noise_is_found(name):
    assert attacked(*WATCHED[name], part=0.5)["epsilon"] > CERTIFICATE


def test_a_batch_without_examples_is_attacked_as_any_other():
    none = Batch(torch.zeros(0, BATCH.inputs.shape[1]).double(), torch.zeros(0, dtype=torch.long))
    build, unit = next(iter(WATCHED.values()))
    assert 0.3 * CERTIFICATE < attacked(build, unit, none)["epsilon"] <= CERTIFICATE


@pytest.mark.parametrize("name", [name for name in ALL if "relevance" not in name])  # no rule here
def test_a_network_whose_gradients_are_all_zero_ends_no_step(name):
    build, unit, _ = ALL[name]
    canaries = Canaries(CANARIES, CANARIES, ("contract", "canaries"))
    canaries.draw(np.ones(CANARIES, bool), 3, 30, RATE)
    mechanism, draws = audited(build, canaries, CLIP), noise.Seeded("contract", "dead")
    released, _ = unit.take(mechanism, drawn([0.0] * 3, "dead"), draws.normal, 0, 0)
    assert released.isfinite().all() and np.isfinite(canaries.noise[0]).all()
