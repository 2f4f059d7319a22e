"""dpsgd-psac: DP-SGD with per-sample adaptive clipping, which keeps short gradients short.

Xia et al. 2023 (arXiv 2212.00328): g is multiplied by C / (|g| + r / (|g| + r)). Among gradients
far shorter than r the factor is about C, not C / |g|. The length after it is below C, so a step is
the one Gaussian that it is in dpsgd.
"""

from functools import partial

from torch import Tensor

from dpfl import clippings
from dpfl.contracts.bounds import bounded
from dpfl.gradients.step import Gradients
from dpfl.mechanisms.dpsgd import DPSGD

CLIPPING_RULES = ("fixed",)
SETTINGS = {"r": "number > 0"}
NOISE_IS_Z_C = True


def adapted(gradients: Gradients, clip_norm: float, r: float) -> list[Tensor]:
    """Return sum_i g_i C / (|g_i| + r / (|g_i| + r))."""
    norms = gradients.norms()
    return gradients.weighted_sum(clip_norm / (norms + r / (norms + r)))


@bounded(SETTINGS)
def build(clipping: dict, r: float = 0.1) -> DPSGD:
    """Build the estimator; UserError unless r is finite and above 0."""
    return DPSGD(clippings.build(clipping), partial(adapted, r=r))
