"""No proof: DP-SGD by batch medians, in which all clients add the same noise in a step.

As read in the published code of DP-SCAFFOLD (Noble et al. 2022, arXiv 2111.09278): every user seeds
the generator by the round and the step alone.
"""

from dpfl import clippings
from dpfl.mechanisms.parts.batch_medians import THRESHOLDS, BatchMedians

SHARED_NOISE = True
READ_IN = (
    "github.com/maxencenoble/Differential-Privacy-for-Heterogeneous-Federated-Learning",
    "ecad8ac",
    "user_avg.py, lines 85 and 86",
)
_REASONS = (
    "all clients add the same noise: the difference of two that are sent has none",
    *THRESHOLDS,
)


def build(clipping: dict) -> BatchMedians:
    """Build the estimator; the clip norm of the method is used for an empty batch."""
    return BatchMedians(clippings.build(clipping), _REASONS)
