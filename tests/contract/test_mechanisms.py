"""Every private gradient estimator through one suite, found by file name."""

import pytest
import torch
from torch import nn

from dpfl import plugins
from dpfl.federated import loss_fn

NAMES = [
    name
    for name in plugins.names("mechanisms")
    if plugins.constant("mechanisms", name, "UNIT", "example") == "example"
]
PRIVATE = [name for name in NAMES if name != "nonprivate"]
CLIP = 0.7


def setting(examples, seed=0):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    inputs = 5 * torch.randn(examples, 5, generator=generator, dtype=torch.float64)
    return model, inputs, torch.randint(0, 3, (examples,), generator=generator)


def estimate(name, model, inputs, targets, z=0.0, clip=CLIP, batch=10.0, normal=None):
    mechanism = plugins.load("mechanisms", name).build({"rule": "fixed", "clip_norm": clip})
    return mechanism.estimate(
        model,
        loss_fn,
        inputs,
        targets,
        noise_multiplier=z,
        expected_batch=batch,
        normal=normal or (lambda size: torch.zeros(size, dtype=torch.float64)),
    )


@pytest.mark.parametrize("name", NAMES)
def test_no_noise_and_no_clip_is_the_plain_gradient(name):
    model, inputs, targets = setting(12)
    found = estimate(name, model, inputs, targets, clip=1e9)
    loss = nn.functional.cross_entropy(model(inputs), targets, reduction="sum") / 10
    plain = torch.cat([g.reshape(-1) for g in torch.autograd.grad(loss, list(model.parameters()))])
    torch.testing.assert_close(found, plain)


@pytest.mark.parametrize("name", PRIVATE)
@pytest.mark.parametrize("examples", [0, 1, 7])
def test_one_example_moves_the_sum_by_at_most_the_clip_norm(name, examples):
    model, inputs, targets = setting(examples + 1)
    more = estimate(name, model, inputs, targets)
    less = estimate(name, model, inputs[:-1], targets[:-1])
    assert 0 < 10 * (more - less).norm() <= CLIP * (1 + 1e-9)


@pytest.mark.parametrize("name", PRIVATE)
def test_noise_is_the_multiplier_times_the_clip_norm_over_the_expected_batch(name):
    model, inputs, targets = setting(4)
    ones = lambda size: torch.ones(size, dtype=torch.float64)  # noqa: E731
    noisy = estimate(name, model, inputs, targets, z=3.0, normal=ones)
    quiet = estimate(name, model, inputs, targets)
    torch.testing.assert_close(noisy - quiet, torch.full_like(quiet, 3.0 * CLIP / 10))


@pytest.mark.parametrize("name", NAMES)
def test_the_denominator_is_the_expected_batch_not_the_realised_one(name):
    model, inputs, targets = setting(6)
    ten, twenty = (estimate(name, model, inputs, targets, batch=b) for b in (10.0, 20.0))
    torch.testing.assert_close(ten, 2 * twenty)


@pytest.mark.parametrize("name", NAMES)
def test_an_estimator_without_proof_gives_reasons(name):
    unproven = plugins.load("mechanisms", name).build({"clip_norm": 1.0}).unproven
    assert isinstance(unproven, tuple)
    assert all(isinstance(reason, str) and reason for reason in unproven)


def test_dp_sgd_is_proven_and_the_plain_gradient_is_not():
    built = {n: plugins.load("mechanisms", n).build({"clip_norm": 1.0}) for n in NAMES}
    assert not built["dpsgd"].unproven and built["nonprivate"].unproven
