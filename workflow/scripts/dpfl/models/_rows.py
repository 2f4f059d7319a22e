"""What the networks for inputs of any shape begin with: one row of numbers for each example."""

import torch
from torch import Tensor, nn


class Rows(nn.Flatten):
    """Lay inputs [L, ...] out as rows [L, D]; float16 features are widened to float32 first."""

    def forward(self, inputs: Tensor) -> Tensor:
        """Return the rows, which the layout in memory does not change."""
        return super().forward(inputs.float() if inputs.dtype == torch.float16 else inputs)
