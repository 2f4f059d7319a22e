"""dpsgd-normalised: DP-SGD that scales every gradient to about the same norm, long or short.

AUTO-S of Bu et al. 2023 (arXiv 2206.07136, algorithm 1), gamma .01 there, with C = 1. Their AUTO-V
has gamma 0. Yang et al. 2022 (arXiv 2206.13033) call it normalised SGD and tune gamma. As
|g| C / (|g| + gamma) is at most C, a step is the one Gaussian that it is in dpsgd.
"""

from functools import partial

import torch
from torch import Tensor

from dpfl import clippings
from dpfl.contracts.bounds import bounded
from dpfl.gradients.step import Gradients
from dpfl.mechanisms.dpsgd import DPSGD

CLIPPING_RULES = ("fixed",)
SETTINGS = {"gamma": "number >= 0"}
NOISE_IS_Z_C = True


def normalised(gradients: Gradients, clip_norm: float, gamma: float) -> list[Tensor]:
    """Return sum_i g_i C / (|g_i| + gamma); a gradient of zeros adds nothing."""
    norms = gradients.norms()
    weights = clip_norm / (norms + gamma)
    return gradients.weighted_sum(torch.where(norms > 0, weights, 0))


@bounded(SETTINGS)
def build(clipping: dict, gamma: float = 0.01) -> DPSGD:
    """Build the estimator; UserError unless gamma is finite and at least 0."""
    return DPSGD(clippings.build(clipping), partial(normalised, gamma=gamma))
