"""Networks, one per file; every weight is drawn from the caller's generator."""

import inspect
import math
from collections.abc import Sequence

import torch
from torch import nn

from dpfl import plugins
from dpfl.errors import UserError


def build(name: str, generator: torch.Generator, shape: Sequence[int] | None = None) -> nn.Module:
    """Return the network of a name, its weights drawn from `generator` alone.

    A network whose build takes a `shape` is made for inputs of this shape (C, H, W).
    The distribution is PyTorch's default for Linear and Conv2d: uniform on +-1/sqrt(fan in).
    UserError if there is no such network, if it needs a shape and none is given, or if it has
    another layer with parameters.
    """
    make = plugins.load("models", name).build
    given = {}
    if "shape" in inspect.signature(make).parameters:
        if shape is None:
            raise UserError(f"{name} is made for inputs of one shape, and none is given")
        given["shape"] = tuple(shape)
    with torch.random.fork_rng(devices=[]):  # constructors draw from the global state: give it back
        model = make(**given)
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
