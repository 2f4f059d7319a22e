"""What the networks on scattering features share: normalisation of every example by itself."""

import math

import torch
from torch import Tensor, nn

GROUPS = 27  # the best of 9, 27 and 81 for most data sets of Tramer and Boneh 2021


class FeatureNorm(nn.GroupNorm):
    """Shift and scale each group of channels of one example to mean 0 and variance 1.

    There are no parameters, and nothing is shared between examples: it costs no privacy budget.
    Float16 features are widened to float32 first.
    """

    def __init__(self, channels: int) -> None:
        super().__init__(math.gcd(GROUPS, channels), channels, affine=False)

    def forward(self, features: Tensor) -> Tensor:
        """Return normalised features, shaped like the input [L, C, H, W], stored in this order."""
        dtype = torch.float32 if features.dtype == torch.float16 else features.dtype
        # Channels last, torch takes 30 times longer here, and nn.Flatten copies after it.
        return super().forward(features.to(dtype, memory_format=torch.contiguous_format))
