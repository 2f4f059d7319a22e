"""One loss per example, whatever a loss function returns."""

from collections.abc import Callable

import torch
from torch import Tensor

from dpfl.base.errors import UserError

LossFunction = Callable[[Tensor, Tensor], Tensor]


def of_examples(loss_fn: LossFunction, outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the losses [L] of outputs [L, ...]; a scalar loss is taken example by example.

    A mean over the batch would make one example's gradient depend on how many others there are.
    Clipping would no longer bound what one of them moves. UserError for another shape.
    """
    losses = loss_fn(outputs, targets)
    if losses.dim() == 0:
        if not len(outputs):
            return outputs.flatten(1).sum(1)  # none, of which there still is a gradient
        pairs = zip(outputs.split(1), targets.split(1), strict=True)
        return torch.stack([loss_fn(output, target) for output, target in pairs])
    if losses.shape != outputs.shape[:1]:
        found = tuple(losses.shape)
        raise UserError(f"the loss has shape {found}, expected ({len(outputs)},) or a scalar")
    return losses
