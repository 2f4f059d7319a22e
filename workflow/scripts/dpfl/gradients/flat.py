"""A model whose parameters are views of one flat tensor, so that an update is one operation."""

from collections.abc import Iterable

import torch
from torch import nn


def joined(tensors: Iterable[torch.Tensor]) -> torch.Tensor:
    """Return tensors shaped like parameters as one vector [D]."""
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


def trained(model: nn.Module) -> list[nn.Parameter]:
    """Return the parameters that are not frozen, in the order of parameters().

    What is said of a model's gradients, their number P and size D, is said of these.
    """
    return [p for p in model.parameters() if p.requires_grad]


class FlatModel:
    """Wraps a model in place: `flat` [D] holds its trained parameters, in their order.

    `parts` are the places of each in it, by name.
    """

    def __init__(self, model: nn.Module):
        self.model = model
        values = joined(p.detach() for p in trained(model))
        self.flat = nn.Parameter(values)
        self.parts: dict[str, slice] = {}
        start = 0
        for name, p in model.named_parameters():
            if p.requires_grad:
                self.parts[name] = slice(start, start + p.numel())
                p.data = self.flat.data[self.parts[name]].view_as(p)
                start += p.numel()

    def get(self) -> torch.Tensor:
        """Return a copy of the parameters, flat [D]."""
        return self.flat.detach().clone()

    def set(self, values: torch.Tensor) -> None:
        """Overwrite the parameters from a flat tensor [D]."""
        self.flat.data.copy_(values)
