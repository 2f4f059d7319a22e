"""One forward and one backward pass, keeping each layer's input and the gradient of its output."""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.autograd.graph import get_gradient_edge
from torch.nn.modules.batchnorm import _BatchNorm

from dpfl.errors import UserError
from dpfl.layout import channels_last

LossFunction = Callable[[Tensor, Tensor], Tensor]
SUPPORTED_CONV2D = {"dilation": (1, 1), "groups": 1, "padding_mode": "zeros"}


def capture(
    model: nn.Module,
    loss_fn: LossFunction,
    inputs: Tensor,
    targets: Tensor,
    supported: tuple[type[nn.Module], ...],
) -> Iterator[tuple[nn.Module, Tensor, Tensor]]:
    """Yield (layer, its input, gradient of the summed loss for its output) of each layer called.

    Images go through the network channels last. UserError if a layer with parameters is not of
    a supported type, shares a parameter, or is called twice, and for a loss of another shape.
    """
    calls: dict[nn.Module, tuple] = {}

    def keep(layer: nn.Module, args: tuple[Tensor, ...], output: Tensor) -> Tensor:
        if layer in calls:
            raise UserError(f"layer {_path(model, layer)!r} is called twice in one forward pass")
        if not output.requires_grad:  # frozen parameters, before the first layer that is not
            output = output.detach().requires_grad_().view_as(output)
        # The edge, unlike the tensor, still means this output after an in-place activation.
        calls[layer] = args[0].detach(), get_gradient_edge(output)
        return output

    hooks = [layer.register_forward_hook(keep) for layer in _layers(model, supported)]
    try:
        with torch.enable_grad():
            loss = _losses(loss_fn, model(channels_last(inputs)), targets).sum()
    finally:
        for hook in hooks:
            hook.remove()
    edges = [edge for _, edge in calls.values()]
    grads = list(torch.autograd.grad(loss, edges, allow_unused=True))[::-1]
    for layer, (x, _) in calls.items():
        if (grad := grads.pop()) is not None:
            yield layer, x, grad


def _losses(loss_fn: LossFunction, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return one loss per example, from a scalar loss by applying it to each example alone."""
    losses = loss_fn(outputs, targets)
    if losses.dim() == 0:
        pairs = zip(outputs.split(1), targets.split(1), strict=True)
        return torch.stack([loss_fn(output, target) for output, target in pairs])
    if losses.shape != outputs.shape[:1]:
        found = tuple(losses.shape)
        raise UserError(f"the loss has shape {found}, expected ({len(outputs)},) or a scalar")
    return losses


def _layers(model: nn.Module, supported: tuple[type[nn.Module], ...]) -> list[nn.Module]:
    """Return the layers with parameters; UserError names the first that is not supported."""
    layers: list[nn.Module] = []
    owners: dict[nn.Parameter, nn.Module] = {}
    for layer in model.modules():
        parameters = [p for p in layer._parameters.values() if p is not None]
        if isinstance(layer, _BatchNorm) or getattr(layer, "track_running_stats", False):
            raise UserError(f"layer {_named(model, layer)} mixes the examples of a batch")
        if not parameters:
            continue
        _require_support(model, layer, supported)
        for parameter in parameters:
            if parameter in owners:
                first, second = _path(model, owners[parameter]), _path(model, layer)
                raise UserError(f"layers {first!r} and {second!r} share a parameter")
            owners[parameter] = layer
        layers.append(layer)
    return layers


def _require_support(
    model: nn.Module, layer: nn.Module, supported: tuple[type[nn.Module], ...]
) -> None:
    if type(layer) not in supported:
        raise UserError(f"no per-example gradient known for layer {_named(model, layer)}")
    if not isinstance(layer, nn.Conv2d):
        return
    for key, value in SUPPORTED_CONV2D.items():
        if (found := getattr(layer, key)) != value:
            named = _named(model, layer)
            raise UserError(f"layer {named}: {key} is {found!r}, supported is {value!r}")
    if layer.padding == "same" and not all(size % 2 for size in layer.kernel_size):
        named = _named(model, layer)
        raise UserError(f"layer {named}: padding 'same' needs an odd kernel_size")


def _path(model: nn.Module, layer: nn.Module) -> str:
    return next(path for path, module in model.named_modules() if module is layer)


def _named(model: nn.Module, layer: nn.Module) -> str:
    return f"{_path(model, layer)!r} ({type(layer).__name__})"
