"""No proof: DP-FedAvg that weighs clients by their examples, with noise for equal weights.

As read in the published code of DP-FedSAM.
"""

from dpfl import clippings
from dpfl.mechanisms.parts.cohorts import PublishedFedAvg

UNIT = "client"
READ_IN = (
    "github.com/YMJS-Irfan/DP-FedSAM",
    "016bd7f",
    "fedml_api/dpfedsam/dpfedsam_api.py, lines 148 to 163",
)
_REASONS = (
    "a client counts by its examples: one with more than the mean moves the sum by more than C, "
    "and who else is there changes all weights",
)


def build(clipping: dict) -> PublishedFedAvg:
    """Build the mechanism from the clipping rule of a method and its settings."""
    return PublishedFedAvg(clippings.build(clipping), _REASONS, by_size=True)
