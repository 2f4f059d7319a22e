"""Networks, one per file; every weight is drawn from the caller's generator."""

import math

import torch
from torch import nn

from dpfl import plugins
from dpfl.errors import UserError


def build(name: str, generator: torch.Generator) -> nn.Module:
    """Return the network of a name, its weights drawn from `generator` alone.

    The distribution is PyTorch's default for Linear and Conv2d: uniform on +-1/sqrt(fan in).
    UserError if there is no such network, or if it has another layer with parameters.
    """
    with torch.random.fork_rng(devices=[]):  # constructors draw from the global state: give it back
        model = plugins.load("models", name).build()
    for path, module in model.named_modules():
        _draw(path, module, generator)
    return model


@torch.no_grad()
def _draw(path: str, module: nn.Module, generator: torch.Generator) -> None:
    parameters = list(module.parameters(recurse=False))
    if not parameters:
        return
    if not isinstance(module, nn.Linear | nn.Conv2d):
        raise UserError(f"no default weights known for {path!r} ({type(module).__name__})")
    bound = 1 / math.sqrt(module.weight[0].numel())
    for parameter in parameters:
        parameter.uniform_(-bound, bound, generator=generator)
