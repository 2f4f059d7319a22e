"""A network that sees its inputs through a fixed map of every number: (x - centre) scale."""

from collections.abc import Mapping

import torch
from torch import Tensor, nn

_KEYS = ("inputs.centre", "inputs.scale")


class Affine(nn.Module):
    """(x - centre) scale for inputs [L, C, ...]; float16 is widened. Nothing in it is trained."""

    def __init__(self, centre: Tensor, scale: Tensor):
        super().__init__()
        self.register_buffer("centre", centre)
        self.register_buffer("scale", scale)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the inputs, each number shifted and scaled."""
        return (inputs.to(self.centre.dtype) - self.centre).mul_(self.scale)


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
