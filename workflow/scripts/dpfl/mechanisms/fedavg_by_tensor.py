"""No proof: DP-FedAvg that clips every tensor of an update by itself, with noise for one clip norm.

As read in the published code of DP-FedSAM.
"""

from dpfl import clippings
from dpfl.mechanisms.parts.cohorts import PublishedFedAvg

UNIT = "client"
READ_IN = (
    "github.com/YMJS-Irfan/DP-FedSAM",
    "016bd7f",
    "fedml_api/dpfedsam/dpfedsam_api.py, lines 71 to 77",
)
_REASONS = (
    "each of L tensors is clipped to C by itself: one client moves the sum by sqrt(L) C, and the "
    "noise is for C",
)


def build(clipping: dict) -> PublishedFedAvg:
    """Build the mechanism from the clipping rule of a method and its settings."""
    return PublishedFedAvg(clippings.build(clipping), _REASONS, by_tensor=True)
