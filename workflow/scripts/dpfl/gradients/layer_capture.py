"""One forward and one backward pass, keeping each layer's input and the gradient of its output."""

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge

from dpfl.base.errors import UserError
from dpfl.gradients import losses
from dpfl.gradients.layout import channels_last
from dpfl.gradients.losses import LossFunction


class MisfitError(UserError):
    """What a layer does, or the network where no layer is named, does not tell its gradient."""

    def __init__(self, model: nn.Module, path: str | None, why: str):
        super().__init__(f"{'model' if path is None else f'layer {named(model, path)}'} {why}")
        self.path, self.why = path, f"it {why}"


class _Call(NamedTuple):
    x: Tensor
    version: int  # changes when x is overwritten
    edge: GradientEdge


@dataclass(frozen=True)
class _Calls:
    """The calls of layers, by path, in one pass of a model over so many examples."""

    model: nn.Module
    examples: int
    found: dict[str, _Call] = field(default_factory=dict)

    def keep(self, path: str, layer: nn.Module, args: tuple, kwargs: dict, output: Any) -> None:
        """Keep what a layer got and the edge of what it returned: a hook."""
        if path in self.found:
            raise MisfitError(self.model, path, "is called twice in one forward pass")
        tensors = (*args, output)
        if kwargs or len(args) != 1 or not all(isinstance(t, Tensor) and t.dim() for t in tensors):
            raise MisfitError(self.model, path, "does not map one tensor to one tensor")
        for rows in map(len, tensors):
            if rows != self.examples:
                why = f"is called with {rows} rows for {self.examples} examples"
                raise MisfitError(self.model, path, why)
        if output.requires_grad:
            x = args[0].detach()
            # The edge, unlike the tensor, still means this output after an in-place activation.
            self.found[path] = _Call(x, x._version, get_gradient_edge(output))


def capture(
    model: nn.Module,
    layers: Mapping[str, nn.Module],
    loss_fn: LossFunction,
    inputs: Tensor,
    targets: Tensor,
) -> dict[str, tuple[Tensor, Tensor]]:
    """Return (input, gradient of the summed loss for the output) of the layers that it reaches.

    `layers` are those of the model, by path. Images go through the network channels last.
    MisfitError for a layer that is called twice, has other rows than examples, or other arguments
    than one tensor. Also for one whose input is overwritten. UserError for a loss of another shape.
    """
    calls = _Calls(model, len(inputs))
    # First of the hooks, so that what a hook of the user makes of the output is not this layer's.
    with ExitStack() as hooks, torch.enable_grad():
        for path, layer in layers.items():
            keep = partial(calls.keep, path)
            hooks.enter_context(layer.register_forward_hook(keep, prepend=True, with_kwargs=True))
        loss = losses.of_examples(loss_fn, model(channels_last(inputs)), targets).sum()
    for path, call in calls.found.items():
        if call.x._version != call.version:
            raise MisfitError(model, path, "has an input that is overwritten in place")
    if not calls.found:
        return {}
    edges = [call.edge for call in calls.found.values()]
    grads = torch.autograd.grad(loss, edges, allow_unused=True)
    pairs = zip(calls.found.items(), grads, strict=True)
    return {path: (call.x, grad) for (path, call), grad in pairs if grad is not None}


def named(model: nn.Module, path: str) -> str:
    """Return a layer's path and type, as messages name it."""
    return f"{path!r} ({type(model.get_submodule(path)).__name__})"
