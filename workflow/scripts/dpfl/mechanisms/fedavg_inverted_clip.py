"""No proof: DP-FedAvg that lengthens short updates and leaves long ones as they are.

As read in the published code of Geyer et al. 2017 (arXiv 1712.07557): u / min(1, |u| / S) for every
tensor, with S the median of raw norms, and noise of z S.
"""

from torch import Tensor

from dpfl import clippings
from dpfl.mechanisms.parts.cohorts import PublishedFedAvg, median

UNIT = "client"
READ_IN = (
    "github.com/SAP-samples/machine-learning-diff-private-federated-learning",
    "915c2fa",
    "Helper_Functions.py, lines 117 to 132",
)
_REASONS = (
    "an update longer than the threshold is left as it is: one client moves the sum without bound",
    "the threshold is of raw norms, without noise",
)


def inverted(norms: Tensor, threshold: float) -> Tensor:
    """Return max(1, S / norm)."""
    return (threshold / norms).clamp(min=1.0)


def build(clipping: dict) -> PublishedFedAvg:
    """Build the mechanism; the clip norm of the method is used where nobody takes part."""
    rule = clippings.build(clipping)
    return PublishedFedAvg(rule, _REASONS, median, inverted, by_tensor=True)
