"""Clipping by layer against Opacus' own, and what one example moves the sum by."""

import math

import pytest
import torch
from example_gradients import naive
from fixtures_of_steps import EXPECTED, drawn, setting, step_of
from opacus import GradSampleModule
from opacus.optimizers import DPPerLayerOptimizer
from torch.nn import functional

from dpfl.mechanisms import dpsgd, dpsgd_layerwise

CLIP, LAYERS = 0.7, 4
FIXED = {"rule": "fixed", "clip_norm": CLIP}


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
    same = [
        made.build(FIXED).estimate(step_of(*setting(0), z=2.0, normal=drawn("empty")))
        for made in (dpsgd, dpsgd_layerwise)
    ]
    assert torch.equal(*same)


def test_a_network_of_one_layer_is_dpsgd():
    _, inputs, targets = setting(9)
    model = torch.nn.Linear(5, 3, bias=False).double()
    found = [
        made.build(FIXED).estimate(step_of(model, inputs, targets))
        for made in (dpsgd, dpsgd_layerwise)
    ]
    torch.testing.assert_close(*found)
