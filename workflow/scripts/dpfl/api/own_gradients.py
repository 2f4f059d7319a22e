"""Whether the gradient of an example is its own, at any weights of a network.

`example_wise` compares outputs, which cannot show it where the first weights make them 0. Nor can
they where a network sorts its batch and puts it back. Every row that leaves a layer would then be
taken for another example's.
"""

from collections.abc import Callable
from copy import deepcopy

import torch
from torch import Tensor, nn

from dpfl.api import fitness
from dpfl.base.errors import UserError
from dpfl.gradients import PerExampleGradients
from dpfl.gradients.example_wise import require_example_wise

_TOLERANCE = 1e-2  # of the largest product: rounding may turn a relu, one of many
_DIRECTIONS = 2


def require_own_gradients(
    model: nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    inputs: Tensor,
    targets: Tensor,
    name: str,
) -> None:
    """Raise UserError unless each of `inputs` [n >= 2, ...] has the gradient that it has alone.

    Tried in a copy with drawn weights, on the inputs and on as many random ones. Both have the same
    `targets` [n]. It compares their products with drawn directions, of all together and of each one
    alone. `name` is that of the network.
    """
    generator = torch.Generator().manual_seed(0)
    copy = _redrawn(model, generator)
    require_example_wise(copy, inputs, name)
    random = torch.randn(inputs.shape, generator=generator).to(inputs)
    inputs, targets = torch.cat([inputs, random]), torch.cat([targets, targets])
    first = next(copy.parameters())
    size = sum(p.numel() for p in copy.parameters())
    directions = torch.randn(_DIRECTIONS, size, generator=generator).to(first)

    def products(x: Tensor, y: Tensor) -> Tensor:
        return PerExampleGradients(copy, loss_fn, x, y).inner(directions)

    with fitness.told_of(f"model {name} on inputs {fitness.kind(inputs)}"):
        together = products(inputs, targets)
        pairs = zip(inputs.split(1), targets.split(1), strict=True)
        alone = torch.cat([products(*pair) for pair in pairs])
    finite = alone[alone.isfinite()].abs()
    slack = _TOLERANCE * float(finite.max()) if len(finite) else 0.0
    if not torch.allclose(together, alone, rtol=0, atol=slack, equal_nan=True):
        raise UserError(
            f"model {name}: the gradient of an example depends on the others of the batch; every "
            "layer must treat every example by itself and keep the order of the batch"
        )


def _redrawn(model: nn.Module, generator: torch.Generator) -> nn.Module:
    """Return a copy with all parameters drawn anew, at the size that usual first weights have."""
    copy = deepcopy(model)
    with torch.no_grad():
        for p in copy.parameters():
            inputs = p[0].numel() if p.dim() > 1 else p.numel()
            p.copy_(torch.randn(p.shape, generator=generator) / inputs**0.5)
    return copy
