"""No proof: the plain mean of whole updates, without clip and without noise, at any label of ε.

What a method for whole clients is compared with where a paper speaks of the cost of privacy (Geyer
et al. 2017, arXiv 1712.07557, abstract). At epsilon = infinity every method is this one.
"""

import torch
from torch import Tensor

from dpfl import clippings
from dpfl.mechanisms.parts.cohorts import PublishedFedAvg

UNIT = "client"
_REASONS = ("no clipping and no noise: epsilon is infinite",)


def whole(norms: Tensor, threshold: float) -> Tensor:
    """Return 1 for every update [K]."""
    return torch.ones_like(norms)


def nothing(norms: Tensor, clip_norm: float) -> float:
    """Return 0, the threshold that the noise is a multiple of."""
    return 0.0


def build(clipping: dict) -> PublishedFedAvg:
    """Build the mechanism; the clip norm of the method changes nothing."""
    return PublishedFedAvg(clippings.build(clipping), _REASONS, nothing, whole)
