"""No proof: the plain mean of whole updates, without clip and without noise, at any label of ε.

What a method for whole clients is compared with where a paper speaks of the cost of privacy (Geyer
et al. 2017, arXiv 1712.07557, abstract). At epsilon = infinity every method is this one.
"""

from dpfl.mechanisms.nonprivate import NonPrivate

UNIT = "client"


def build(clipping: dict) -> NonPrivate:
    """Build the mechanism; the clipping settings do not apply."""
    return NonPrivate()
