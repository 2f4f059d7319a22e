"""The private baselines beside FSDP: projection, candidate scales of noise, and Opacus itself."""

import pytest
import torch
from example_gradients import naive
from fixtures_of_steps import EXPECTED, drawn, setting, step_of, zeros
from torch import nn

from dpfl.mechanisms import dpsgd, dpsgd_opacus, p3sgd, pdpsgd

FIXED = {"rule": "fixed", "clip_norm": 0.7}
Z = 1.3


@pytest.mark.parametrize("rank", [1, 7])
def test_pdpsgd_is_dp_sgd_projected_on_the_top_eigenvectors_of_public_gradients(rank):
    model, inputs, targets = setting(9)
    given = {"z": Z, "normal": drawn("pdpsgd")}
    step = step_of(model, inputs, targets, **given)
    found = pdpsgd.build(FIXED, rank=rank).estimate(step)
    public = naive(model, step.public.inputs, step.public.targets)
    _, vectors = torch.linalg.eigh(public.t() @ public / len(public))
    top = vectors[:, -rank:]
    given = {"z": Z, "normal": drawn("pdpsgd")}
    noisy = dpsgd.build(FIXED).estimate(step_of(model, inputs, targets, **given))
    torch.testing.assert_close(found, top @ (top.t() @ noisy), rtol=1e-5, atol=1e-7)


def test_p3sgd_keeps_the_candidate_whose_step_has_the_least_public_loss():
    model, inputs, targets = setting(9)
    candidates, rate = (0.5, 1.0, 3.0), 0.3
    mechanism = p3sgd.build(FIXED, candidates=candidates, trial_rate=rate)
    normal, seen = drawn("p3sgd"), []
    step = step_of(model, inputs, targets, z=Z, normal=lambda n: seen.append(normal(n)) or seen[-1])
    found = mechanism.estimate(step)
    assert len(seen) == 3  # a candidate has noise of its own
    quiet = EXPECTED * dpsgd.build(FIXED).estimate(step_of(model, inputs, targets))
    multipliers = mechanism.release(Z, EXPECTED).multipliers[:3]
    tried = [(quiet + z * 0.7 * n) / EXPECTED for z, n in zip(multipliers, seen, strict=True)]
    weights = nn.utils.parameters_to_vector(model.parameters()).detach()
    losses = []
    for gradient in tried:
        nn.utils.vector_to_parameters(weights - rate * gradient, model.parameters())
        loss = nn.functional.cross_entropy(model(step.public.inputs), step.public.targets)
        losses.append(loss.item())
    torch.testing.assert_close(found, tried[losses.index(min(losses))])


def test_p3sgd_charges_every_candidate():
    multipliers = p3sgd.build(FIXED).release(1.0, EXPECTED).multipliers[:3]
    assert sum(z**-2 for z in multipliers) == pytest.approx(1)
    ratios = [z / multipliers[0] for z in multipliers]
    assert ratios == pytest.approx([1, 1.2, 1.5])
    # Candidates at 1, 1.2 and 1.5 times a multiplier of 1 cost as much as one release at .68.
    assert 1 / multipliers[0] == pytest.approx(0.68, abs=0.005)


def test_p3sgd_leaves_the_weights_as_they_were_to_the_bit():
    model, inputs, targets = setting(9)
    before = [p.clone() for p in model.parameters()]
    p3sgd.build(FIXED).estimate(step_of(model, inputs, targets, z=Z, normal=drawn("bits")))
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))


@pytest.mark.parametrize("examples", [0, 1, 9])
@pytest.mark.parametrize("z", [0.0, Z])
def test_opacus_takes_the_same_step(examples, z):
    model, inputs, targets = setting(examples)
    found = [
        build(FIXED).estimate(
            step_of(model, inputs, targets, z=z, normal=drawn("opacus") if z else zeros)
        )
        for build in (dpsgd.build, dpsgd_opacus.build)
    ]
    torch.testing.assert_close(*found, rtol=1e-5, atol=1e-8)


def test_opacus_follows_the_weights_from_step_to_step():
    model, inputs, targets = setting(9)
    mechanism = dpsgd_opacus.build(FIXED)
    for _ in range(2):
        found = mechanism.estimate(step_of(model, inputs, targets))
        expected = dpsgd.build(FIXED).estimate(step_of(model, inputs, targets))
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-8)
        with torch.no_grad():
            model[0].weight.mul_(1.5)
