"""One forward and one backward pass, keeping each layer's input and the gradient of its output."""

from contextlib import ExitStack
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn.modules.batchnorm import _BatchNorm, _NormBase

from dpfl.base.errors import UserError
from dpfl.gradients import losses
from dpfl.gradients.layout import channels_last
from dpfl.gradients.losses import LossFunction

PARAMETERS = {"weight", "bias"}
SUPPORTED_CONV2D = {"dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}


class _Call(NamedTuple):
    x: Tensor
    version: int  # changes when x is overwritten
    edge: GradientEdge


def capture(
    model: nn.Module,
    layers: list[nn.Module],
    loss_fn: LossFunction,
    inputs: Tensor,
    targets: Tensor,
) -> dict[nn.Module, tuple[Tensor, Tensor]]:
    """Return (input, gradient of the summed loss for the output) of each layer that was called.

    Images go through the network channels last. UserError for a layer that is called twice, has
    other rows than examples, or whose input is overwritten. Also for a loss of another shape.
    """
    calls: dict[nn.Module, _Call] = {}

    def keep(layer: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        x = args[0].detach()
        if layer in calls:
            raise UserError(f"layer {_named(model, layer)} is called twice in one forward pass")
        if len(x) != len(inputs):
            rows = f"{len(x)} rows for {len(inputs)} examples"
            raise UserError(f"layer {_named(model, layer)} is called with {rows}")
        if not output.requires_grad:  # frozen parameters, and nothing before them that is not
            output = output.detach().requires_grad_().view_as(output)
        # The edge, unlike the tensor, still means this output after an in-place activation.
        calls[layer] = _Call(x, x._version, get_gradient_edge(output))
        return output

    # First of the hooks, so that what a hook of the user makes of the output is not this layer's.
    with ExitStack() as hooks, torch.enable_grad():
        for layer in layers:
            hooks.enter_context(layer.register_forward_hook(keep, prepend=True))
        loss = losses.of_examples(loss_fn, model(channels_last(inputs)), targets).sum()
    for layer, call in calls.items():
        if call.x._version != call.version:
            raise UserError(f"the input of layer {_named(model, layer)} is overwritten in place")
    grads = torch.autograd.grad(loss, [call.edge for call in calls.values()], allow_unused=True)
    pairs = zip(calls.items(), grads, strict=True)
    return {layer: (call.x, grad) for (layer, call), grad in pairs if grad is not None}


def layers_of(model: nn.Module, supported: tuple[type[nn.Module], ...]) -> list[nn.Module]:
    """Return the layers with parameters, in the order of model.parameters().

    UserError names the first layer that mixes the examples of a batch, or shares a parameter with
    another. It also names one whose type or setting is not supported.
    """
    layers: list[nn.Module] = []
    owners: dict[int, nn.Module] = {}
    for layer in model.modules():
        if isinstance(layer, _NormBase) and _mixes_examples(layer):
            raise UserError(f"layer {_named(model, layer)} mixes the examples of a batch")
        parameters = [p for p in layer._parameters.values() if p is not None]
        if not parameters:
            continue
        if type(layer) not in supported:
            raise UserError(f"no per-example gradient known for layer {_named(model, layer)}")
        if set(layer._parameters) != PARAMETERS:
            raise UserError(
                f"the parameters of layer {_named(model, layer)} are replaced by others"
            )
        if isinstance(layer, nn.Conv2d):
            _check_settings(model, layer)
        for parameter in parameters:
            if (other := owners.setdefault(id(parameter), layer)) is not layer:
                both = f"{_named(model, other)} and {_named(model, layer)}"
                raise UserError(f"layers {both} share a parameter")
        layers.append(layer)
    return layers


def _mixes_examples(layer: _NormBase) -> bool:
    return isinstance(layer, _BatchNorm) or layer.track_running_stats


def _check_settings(model: nn.Module, conv: nn.Conv2d) -> None:
    for key, value in SUPPORTED_CONV2D.items():
        if (found := getattr(conv, key)) != value:
            named = _named(model, conv)
            raise UserError(f"layer {named}: {key} is {found!r}, supported is {value!r}")
    if conv.padding == "same" and not all(size % 2 for size in conv.kernel_size):
        raise UserError(f"layer {_named(model, conv)}: padding 'same' needs an odd kernel_size")


def _named(model: nn.Module, layer: nn.Module) -> str:
    path = next(path for path, module in model.named_modules() if module is layer)
    return f"{path!r} ({type(layer).__name__})"
