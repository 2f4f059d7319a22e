"""bisect: a coarse grid, halved twice around its best value, and more seeds for the best two.

On a coarse grid equally good methods differ by how far their best values lie from a grid value. So
every stage tries the geometric means of the best value and its neighbours. Where the best is at an
end of what was tried, it goes outwards by the grid's factor. Then the two best get two more seeds.
Of these two the lower is chosen if its mean is within one standard error of the higher mean. A rate
that is too high costs more than one that is too low.
"""

import itertools
import math
from collections.abc import Sequence

from dpfl.contracts.points import Point, Stage, Values
from dpfl.tuning.parts.rules import best

STAGES = (
    {"slots": 2, "each_setting": True},
    {"slots": 2, "each_setting": True},
    {"slots": 2, "more_seeds": 2},
)
_DIGITS = 3  # of a value between others: as many as a table shows


def propose(tried: Sequence[Point], stage: Stage) -> list[Values]:
    """Return the values of a stage's slots, of points that differ in every setting."""
    if not stage.along:
        ranked = sorted(tried, key=lambda point: (-point.mean, point.order))
        return [point.values for point in ranked[: stage.slots]]
    centre = tried[best(tried)].values
    ladder = sorted({point.values[stage.along] for point in tried})
    return [centre | {stage.along: value} for value in _around(centre[stage.along], ladder)]


def choose(tried: Sequence[Point]) -> int:
    """Return the index of the lowest point within one standard error of the best.

    Only points of the most seeds are compared. One seed is high by chance more often than the mean
    of several.
    """
    most = max(len(point.accuracies) for point in tried)
    last = [i for i, point in enumerate(tried) if len(point.accuracies) == most]
    top = max((tried[i] for i in last), key=lambda point: point.mean)
    near = [i for i in last if tried[i].mean >= top.mean - top.error]
    return min(near, key=lambda i: tried[i].order)


def _around(value: float, ladder: list[float]) -> list[float]:
    """Return the middles to both neighbours, outwards by the grid's factor at an end."""
    factor = max(high / low for low, high in itertools.pairwise(ladder))
    at = ladder.index(value)
    below = _middle(ladder[at - 1], value) if at else value / factor
    above = _middle(value, ladder[at + 1]) if at + 1 < len(ladder) else value * factor
    return [_rounded(below), _rounded(above)]


def _middle(low: float, high: float) -> float:
    return math.sqrt(low * high)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
