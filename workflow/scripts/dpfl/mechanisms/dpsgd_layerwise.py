"""dpsgd-layerwise: DP-SGD that clips every parameter's part of a gradient to a bound of its own.

Per-layer clipping of McMahan et al. 2018 (arXiv 1710.06963), who apply it to updates of clients.
With P layers, each is clipped to C / sqrt(P). A layer is one tensor of model.parameters(), so
weights and biases are two, as in Opacus. How many there are owes nothing to the data. One example
moves the sum by at most sqrt(P C^2 / P) = C. Noise z C on every coordinate makes a step the one
Gaussian that it is in dpsgd.

The rule `quantile` follows the norms of whole gradients.
"""

import math

from torch import Tensor

from dpfl import clippings
from dpfl.gradients.step import Gradients
from dpfl.mechanisms.dpsgd import DPSGD

CLIPPING_RULES = ("fixed", "quantile")
NOISE_IS_Z_C = True
COST = 1.02
BLIND = ("how examples are clipped: canaries have no part in any layer, and are clipped to C",)


def by_layer(gradients: Gradients, clip_norm: float) -> list[Tensor]:
    """Return the sum with every layer's part of every gradient clipped to C / sqrt(P)."""
    layers = gradients.parameter_count
    return gradients.clipped_sum_by_parameter([clip_norm / math.sqrt(layers)] * layers)


def build(clipping: dict) -> DPSGD:
    """Build the estimator from the clipping settings of a method."""
    return DPSGD(clippings.build(clipping), by_layer)
