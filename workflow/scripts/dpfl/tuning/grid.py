"""grid: the best of the values that the study lists."""

from collections.abc import Sequence

from dpfl.contracts.points import Point
from dpfl.tuning.parts.rules import best


def choose(tried: Sequence[Point]) -> int:
    """Return the index of the highest mean accuracy; of equal ones that of the lowest values."""
    return best(tried)
