"""The probe of a mechanism on the networks of the replay."""

import torch

from dpfl.audit.trials import CLIP, DEEP, Examples
from dpfl.draws import noise
from dpfl.gradients.step import Public
from dpfl.training import probe
from dpfl.training.federated import loss_fn
from dpfl.training.steps import Sources

SOURCES = Sources(noise.Seeded, ("batch",), ("noise",))


def nobody(unit, network, z, expected=10.0, sources=SOURCES):
    """Return what takes a step, or a round, of a mechanism on nobody, in float32."""
    model = network.model(torch.float32)
    if unit is not Examples:
        size = sum(p.numel() for p in model.parameters())
        return probe.client_round(torch.zeros(size), z, expected)
    empty, public = network.empty, network.public
    given = (empty.inputs.float(), empty.targets)
    known = Public(public.inputs.float(), public.targets)
    return probe.example_step(model, loss_fn, given, z, expected, known, sources)


def probed(build, unit, network=DEEP, z=1.3, sources=SOURCES, **promised):
    """Raise UserError if a mechanism does not draw what it promises."""
    promise = probe.Promise("planted", z, CLIP, **promised)
    probe.require_noise(promise, build, nobody(unit, network, z, sources=sources), sources)
