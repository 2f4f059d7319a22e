"""Every private gradient estimator, found by file name, with every choice that it declares."""

import declared
import torch
from torch import nn

from dpfl import plugins
from dpfl.draws import streams
from dpfl.gradients.step import Public, Step
from dpfl.training.federated import loss_fn

CLIP, Z, EXPECTED = 0.7, 1.3, 10.0
SMALL = {"rank": 3}  # of settings, where the default is too large for the network below
CLIPPINGS = {
    rule: {**declared.required("clippings", rule), "rule": rule, "clip_norm": CLIP}
    for rule in plugins.names("clippings")
}


def example_level():
    """Yield every mechanism at its defaults, and with every choice that it declares."""
    for name in plugins.names("mechanisms"):
        if plugins.constant("mechanisms", name, "UNIT") != "example":
            continue
        needed = declared.required("mechanisms", name)
        small = {key: SMALL[key] for key in SMALL.keys() & declared.parameters("mechanisms", name)}
        yield name, (name, needed)
        for setting, value in declared.choices("mechanisms", name):
            yield f"{name}, {setting} {value}", (name, {**needed, **small, setting: value})


VARIANTS = dict(example_level())


def build(name, rule="fixed", **clipping):
    estimator, settings = VARIANTS[name]
    return plugins.load("mechanisms", estimator).build({**CLIPPINGS[rule], **clipping}, **settings)


RULES = [
    (name, rule)
    for name, (estimator, _) in VARIANTS.items()
    for rule in plugins.constant("mechanisms", estimator, "CLIPPING_RULES")
]


def zeros(size):
    return torch.zeros(size, dtype=torch.float64)


def streams_normal():
    rng = streams.rng("noise")
    return lambda size: torch.from_numpy(rng.standard_normal(size))


def setting(examples, seed=0):
    generator = torch.Generator().manual_seed(seed)
    model = nn.Sequential(nn.Linear(5, 8), nn.Tanh(), nn.Linear(8, 3)).double()
    inputs = 5 * torch.randn(examples, 5, generator=generator, dtype=torch.float64)
    return model, inputs, torch.randint(0, 3, (examples,), generator=generator)


def estimate(mechanism, model, inputs, targets, z=0.0, batch=EXPECTED, normal=zeros, **more):
    _, public, labels = setting(30, seed=1)
    return mechanism.estimate(
        Step(
            model=model,
            inputs=inputs,
            targets=targets,
            noise_multiplier=z,
            expected_batch=batch,
            normal=normal,
            public=Public(public.to(inputs.device), labels.to(inputs.device)),
            public_rng=lambda: streams.rng("public"),
            **{"loss_fn": loss_fn, **more},
        )
    )
