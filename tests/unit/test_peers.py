"""The private baselines beside FSDP: projection, candidate scales of noise, Opacus, and layers."""

import math

import pytest
import torch
from example_gradients import naive
from fixtures_of_steps import EXPECTED, drawn, setting, step_of, zeros
from opacus import GradSampleModule
from opacus.optimizers import DPPerLayerOptimizer
from torch import nn
from torch.nn import functional

from dpfl.mechanisms import dpsgd, dpsgd_layerwise, dpsgd_opacus, p3sgd, pdpsgd

CLIP, LAYERS, Z = 0.7, 4, 1.3
FIXED = {"rule": "fixed", "clip_norm": CLIP}


def of_both(one, other, *given, **more):
    """Return what two mechanisms make of steps alike; `normal` is the key of their draws."""
    key = more.pop("normal", None)
    return [
        made.build(FIXED).estimate(step_of(*given, normal=drawn(key) if key else zeros, **more))
        for made in (one, other)
    ]


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
    found = of_both(dpsgd, dpsgd_opacus, *setting(examples), z=z, normal="opacus" if z else None)
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


def of_opacus(model, inputs, targets):
    peer = GradSampleModule(model, loss_reduction="sum")
    optimizer = DPPerLayerOptimizer(
        torch.optim.SGD(peer.parameters(), lr=0.1),
        noise_multiplier=0.0,
        max_grad_norm=[CLIP / math.sqrt(LAYERS)] * LAYERS,
        expected_batch_size=1,
    )
    functional.cross_entropy(peer(inputs), targets, reduction="sum").backward()
    optimizer.clip_and_accumulate()
    return torch.cat([p.summed_grad.flatten() for p in peer.parameters()])


@pytest.mark.filterwarnings("ignore:Full backward hook")
@pytest.mark.parametrize("examples", [1, 9])
def test_it_clips_as_opacus_clips_by_layer(examples):
    model, inputs, targets = setting(examples)
    found = dpsgd_layerwise.build(FIXED).estimate(step_of(model, inputs, targets))
    expected = of_opacus(model, inputs, targets)
    torch.testing.assert_close(EXPECTED * found, expected, rtol=1e-5, atol=1e-6)  # its 1e-6
    whole = dpsgd.build(FIXED).estimate(step_of(model, inputs, targets))
    assert (EXPECTED * (found - whole)).norm() > 0.05 * CLIP


def test_a_gradient_long_in_every_layer_moves_the_sum_by_the_clip_norm():
    model, inputs, targets = setting(1)
    (row,) = naive(model, inputs, targets)
    parts = row.split([p.numel() for p in model.parameters()])
    bound = min(float(part.norm()) for part in parts) / 2
    mechanism = dpsgd_layerwise.build({**FIXED, "clip_norm": 2 * bound})  # 4 layers
    found = EXPECTED * mechanism.estimate(step_of(model, inputs, targets))
    assert float(found.norm()) == pytest.approx(2 * bound, rel=1e-12)
    for part, moved in zip(parts, found.split([len(p) for p in parts]), strict=True):
        torch.testing.assert_close(moved, part * (bound / part.norm()))


def test_noise_is_that_of_dpsgd():
    assert torch.equal(*of_both(dpsgd, dpsgd_layerwise, *setting(0), z=2.0, normal="empty"))


def test_a_network_of_one_layer_is_dpsgd():
    _, inputs, targets = setting(9)
    model = torch.nn.Linear(5, 3, bias=False).double()
    torch.testing.assert_close(*of_both(dpsgd, dpsgd_layerwise, model, inputs, targets))
