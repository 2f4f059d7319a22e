"""What a printed gain would take to be seen, and how much of one luck alone can make."""

import math
from bisect import bisect_left

from scipy import special

from dpfl.seeds.verdicts import LEVEL, MIN_SPREAD

POWER = 0.8
MOST = 1_000_000
BEST_THREE_OF_TEN = 1.07
"""Mean of the three largest of ten standard normal draws: 1.065, from their order statistics."""


def power(gain: float, sd: float, n: int) -> float:
    """Return the power of the two-sided paired t-test of n differences to see a gain."""
    shift = abs(gain) / sd * math.sqrt(n)
    end = special.stdtrit(n - 1, (1 + LEVEL) / 2)
    wrong_way, below = special.nctdtr(n - 1, shift, [-end, end])
    # scipy has nan where the probability of the wrong way vanishes.
    return float(1 - below) + (0 if math.isnan(wrong_way) else float(wrong_way))


def needed(gain: float, sd: float) -> float:
    """Return the fewest paired seeds, at least MIN_SPREAD, with a power of 80 %; nan above MOST."""
    if not (math.isfinite(gain) and math.isfinite(sd) and gain):
        return math.nan
    if sd == 0:
        return float(MIN_SPREAD)
    high = MIN_SPREAD
    while power(gain, sd, high) < POWER:
        high *= 2
        if high > MOST:
            return math.nan
    between = range(max(MIN_SPREAD, high // 2), high)
    enough = bisect_left(between, True, key=lambda n: power(gain, sd, n) >= POWER)
    return float(between.start + enough)


def lucky(sd: float) -> float:
    """Return how far the best three of ten seeds lie above all ten on average."""
    return BEST_THREE_OF_TEN * sd
