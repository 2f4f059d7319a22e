"""Networks, one per file; every weight is drawn from the caller's generator."""

import inspect
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from dpfl import plugins
from dpfl.base.errors import UserError

NEEDED = {"shape": "inputs of one shape", "classes": "a number of classes"}


def build(
    name: str,
    generator: torch.Generator,
    shape: Sequence[int] | None = None,
    classes: int | None = None,
) -> nn.Module:
    """Return the network of a name, its weights drawn from `generator` alone.

    A network whose build takes a `shape` is made for inputs of this shape, such as (C, H, W) or
    (D,). One whose build takes `classes` is made for as many logits. The distribution is PyTorch's
    default: for Linear and Conv2d uniform on +-1/sqrt(fan in), for Embedding normal. Norm layers
    start from one and zero. A network whose file says START = "zero" starts from zero. UserError if
    there is no such network, or if it needs a shape or classes and none are given. Also if it has
    another layer with parameters.
    """
    file = plugins.load("models", name)
    make, start = file.build, STARTS[getattr(file, "START", "uniform")]
    given = {"shape": None if shape is None else tuple(shape), "classes": classes}
    with torch.random.fork_rng(devices=[]):  # constructors draw from the global state: give it back
        model = make(**_taken(name, make, given))
    for path, module in model.named_modules():
        _begin(path, module, partial(start, generator))
    return model


def _taken(name: str, make: Callable, given: dict[str, Any]) -> dict[str, Any]:
    """Return what a network's build takes of what is given; UserError for what it lacks."""
    taken = {}
    for key, parameter in inspect.signature(make).parameters.items():
        if given.get(key) is not None:
            taken[key] = given[key]
        elif parameter.default is parameter.empty:
            raise UserError(f"{name} is made for {NEEDED.get(key, key)}, and none is given")
    return taken


@torch.no_grad()
def _begin(path: str, module: nn.Module, start: Callable[[nn.Module], None]) -> None:
    if not list(module.parameters(recurse=False)):
        return
    if isinstance(module, nn.GroupNorm | nn.LayerNorm):
        module.reset_parameters()  # to one and zero: it draws nothing
    elif isinstance(module, nn.Linear | nn.Conv2d | nn.Embedding):
        start(module)
    else:
        raise UserError(f"no default weights known for {path!r} ({type(module).__name__})")


def _usual(generator: torch.Generator, module: nn.Module) -> None:
    if isinstance(module, nn.Embedding):
        module.weight.normal_(generator=generator)
        return
    bound = 1 / math.sqrt(module.weight[0].numel())
    for parameter in module.parameters(recurse=False):
        parameter.uniform_(-bound, bound, generator=generator)


def _zero(generator: torch.Generator, module: nn.Module) -> None:
    for parameter in module.parameters(recurse=False):
        parameter.zero_()


STARTS = {"uniform": _usual, "zero": _zero}
