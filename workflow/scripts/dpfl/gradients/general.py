"""Per-example gradients by torch.func: of one layer of any kind, or through the whole network."""

from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vjp, vmap

from dpfl.base.errors import UserError
from dpfl.gradients import losses
from dpfl.gradients.convolution import chunk_size
from dpfl.gradients.losses import LossFunction
from dpfl.gradients.parameter_gradients import Piece, Rows

CHUNKS_PER_CALL = 4  # at once: a call of vmap costs much by itself

Tensors = dict[str, Tensor]


class FuncError(RuntimeError):
    """What torch.func cannot follow, in one line."""


class _Forward(nn.Module):
    """The forward of a layer without its hooks, which saw their turn when it was called."""

    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer = layer

    def forward(self, x: Tensor) -> Tensor:
        return self.layer.forward(x)


def of_layer(layer: nn.Module, x: Tensor, b: Tensor) -> list[Piece]:
    """Return the pieces of a layer's trained parameters, from x [L, ...] and b [L, ...].

    They are the vector-Jacobian products of this layer alone. FuncError where it draws at random,
    or does what torch.func.vmap cannot follow.
    """
    forward = _Forward(layer)
    named = layer.named_parameters(recurse=False)
    own = {f"layer.{name}": p.detach() for name, p in named if p.requires_grad}

    def pulled(one: Tensor, its_b: Tensor) -> Tensors:
        _, pull = vjp(lambda values: functional_call(forward, values, (one[None],))[0], own)
        return pull(its_b)[0]

    numbers = x[0].numel() + b[0].numel() + sum(p.numel() for p in own.values())
    return list(_written(own, pulled, (x, b), numbers).values())


def of_network(
    model: nn.Module, names: tuple[str, ...], loss_fn: LossFunction, inputs: Tensor, targets: Tensor
) -> dict[str, Piece]:
    """Return the pieces of parameters by name, from the gradient of each example's own loss.

    FuncError as in of_layer.
    """
    known = dict(model.named_parameters())
    own = {name: known[name].detach() for name in names}

    def loss(values: Tensors, x: Tensor, y: Tensor) -> Tensor:
        outputs = functional_call(model, values, (x[None],))
        return losses.of_examples(loss_fn, outputs, y[None]).sum()

    def each(x: Tensor, y: Tensor) -> Tensors:
        return grad(loss)(own, x, y)

    numbers = sum(p.numel() for p in known.values())
    return _written(own, each, (inputs, targets), numbers)


def _written(
    own: Tensors, each: Callable[..., Tensors], given: tuple[Tensor, Tensor], numbers: int
) -> dict[str, Piece]:
    """Write out what `each` returns of every example; `numbers` is how large one of them is."""
    length, size = len(given[0]), chunk_size(given[0], -(-numbers // CHUNKS_PER_CALL))
    rows = {name: p.new_empty(length, *p.shape) for name, p in own.items()}
    with torch.no_grad():
        for start in range(0, length, size):
            some = slice(start, start + size)
            for name, found in _mapped(each, *(tensor[some] for tensor in given)).items():
                rows[name][some] = found
    return {name: Rows(found) for name, found in rows.items()}


def _mapped(each: Callable[..., Tensors], *given: Tensor) -> Tensors:
    try:
        return vmap(each)(*given)
    except (UserError, torch.OutOfMemoryError):
        raise
    except (RuntimeError, TypeError, ValueError) as error:
        why = f"cannot be differentiated by torch.func: {str(error).splitlines()[0]}"
        raise FuncError(why) from error
