"""A network that sees its inputs through a fixed map of every number."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from dpfl.contracts.affine import Affine

_KEYS = ("inputs.centre", "inputs.scale")


class Standardised(nn.Module):
    """A network behind such a map, both kept with its weights."""

    def __init__(self, inputs: Affine, network: nn.Module):
        super().__init__()
        self.inputs, self.network = inputs, network

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the network's outputs."""
        return self.network(self.inputs(inputs))


def like(network: nn.Module, tensors: Mapping[str, Tensor]) -> nn.Module:
    """Return the network as kept weights have it: behind a map if they hold one."""
    if not all(key in tensors for key in _KEYS):
        return network
    return Standardised(Affine(*(torch.empty_like(tensors[key]) for key in _KEYS)), network)
