"""No proof: DP-FedAvg that clips at the median, or the mean, of the cohort's raw norms.

As read in the published code of DP-FedPGN; without tensors apart it is algorithm 1 of Geyer et al.
2017, arXiv 1712.07557.
"""

from dpfl import clippings
from dpfl.contracts.bounds import bounded
from dpfl.mechanisms.parts import cohorts
from dpfl.mechanisms.parts.cohorts import PublishedFedAvg

UNIT = "client"
READ_IN = ("github.com/junkangLiu0/DP-FedPGN", "6203180", "DP_new.py, lines 905 to 918")
SETTINGS = {"of": "one of median, mean", "by_tensor": "switch"}
_REASONS = (
    "the threshold is of raw norms, without noise: one client moves it, and the noise with it, as "
    "far as it likes",
)
_THRESHOLDS = {"median": cohorts.median, "mean": cohorts.mean}


@bounded(SETTINGS)
def build(clipping: dict, of: str = "median", by_tensor: bool = True) -> PublishedFedAvg:
    """Build the mechanism; the clip norm of the method is used where nobody takes part."""
    rule = clippings.build(clipping)
    return PublishedFedAvg(rule, _REASONS, _THRESHOLDS[of], by_tensor=by_tensor)
