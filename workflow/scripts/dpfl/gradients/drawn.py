"""Networks and inputs on which something is tried, in place of those that are given."""

from copy import deepcopy

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError


def copied(model: nn.Module) -> nn.Module:
    """Return a copy of a network; UserError names a layer that has none."""
    for path, layer in model.named_modules():
        for key, value in vars(layer).items():
            if isinstance(value, Tensor) and not value.is_leaf:
                raise UserError(
                    f"layer {path!r} ({type(layer).__name__}): {key!r} is computed from parameters "
                    "outside of the forward pass; expected torch.nn.utils.parametrize"
                )
    return deepcopy(model)


def drawn_like(inputs: Tensor, examples: int, generator: torch.Generator) -> Tensor:
    """Return random inputs of the same shape and type, of which only integers are looked at.

    Real numbers are drawn from a normal distribution, integers from the range of the given ones:
    token ids stay in their table.
    """
    shape = (examples, *inputs.shape[1:])
    if inputs.is_floating_point() or not inputs.numel():
        return torch.randn(shape, generator=generator).to(inputs)
    low, high = int(inputs.min()), int(inputs.max())
    return torch.randint(low, high + 1, shape, generator=generator).to(inputs)
