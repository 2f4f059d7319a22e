"""No proof: DP-SGD that clips every tensor at the median of its raw norms in the batch.

As read in the published code of DP-SCAFFOLD (Noble et al. 2022, arXiv 2111.09278), with noise of
its own for every client.
"""

from dpfl import clippings
from dpfl.mechanisms.parts.batch_medians import THRESHOLDS, BatchMedians

READ_IN = (
    "github.com/maxencenoble/Differential-Privacy-for-Heterogeneous-Federated-Learning",
    "ecad8ac",
    "user_avg.py, lines 103 to 113",
)


def build(clipping: dict) -> BatchMedians:
    """Build the estimator; the clip norm of the method is used for an empty batch."""
    return BatchMedians(clippings.build(clipping), THRESHOLDS)
