"""A fixed map of every number of an input: (x - centre) scale."""

from torch import Tensor, nn


class Affine(nn.Module):
    """(x - centre) scale for inputs [L, C, ...]; float16 is widened. Nothing in it is trained."""

    def __init__(self, centre: Tensor, scale: Tensor):
        super().__init__()
        self.register_buffer("centre", centre)
        self.register_buffer("scale", scale)

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the inputs, each number shifted and scaled."""
        return (inputs.to(self.centre.dtype) - self.centre).mul_(self.scale)
