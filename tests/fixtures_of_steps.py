"""Steps for tests of mechanisms: a small network, wild examples, noise that tests choose."""

import torch
from torch import nn

from dpfl.draws import streams
from dpfl.gradients.step import Public, Step
from dpfl.training.federated import loss_fn

EXPECTED = 10.0


def zeros(size):
    return torch.zeros(size, dtype=torch.float64)


def ones(size):
    return torch.ones(size, dtype=torch.float64)


def drawn(*key):
    """Return a source of standard normals in float64."""
    rng = streams.rng("noise", *key)
    return lambda size: torch.from_numpy(rng.standard_normal(size))


def setting(examples, seed=0, scale=5.0):
    """Return a network of 75 parameters, inputs [L, 5] and targets [L], in float64."""
    weights = torch.Generator().manual_seed(7)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    with torch.no_grad():
        for p in model.parameters():
            p.uniform_(-0.5, 0.5, generator=weights)
    generator = torch.Generator().manual_seed(seed)
    inputs = scale * torch.randn(examples, 5, generator=generator, dtype=torch.float64)
    return model, inputs, torch.randint(0, 3, (examples,), generator=generator)


def step_of(model, inputs, targets, z=0.0, batch=EXPECTED, normal=zeros, **more):
    """Return a step, with 30 public examples on the device of its own."""
    _, *public = setting(30, seed=1)
    given = {
        "loss_fn": loss_fn,
        "public": Public(*(part.to(inputs.device) for part in public)),
        "public_rng": lambda: streams.rng("public"),
        **more,
    }
    return Step(
        model=model,
        inputs=inputs,
        targets=targets,
        noise_multiplier=z,
        expected_batch=batch,
        normal=normal,
        **given,
    )
