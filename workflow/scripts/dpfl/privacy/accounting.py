"""The price of a run in epsilon; what a price buys is in dpfl.privacy.search."""

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate

from dp_accounting import DpEvent

from dpfl import plugins
from dpfl.privacy import events
from dpfl.privacy.accountants import pld

Segments = Sequence[tuple[float, int]]
"""What a client does in order: (noise multiplier, steps), the noise fixed in advance."""

CERTIFICATE = "pld"  # prices what was bought, whichever accountant chose the noise
FINE_CURVE = 200  # longer curves are drawn on the coarser grid, from above all the same


def epsilon(
    sample_rate: float, noise_multiplier: float, steps: int, delta: float, accountant: str = "pld"
) -> float:
    """Return the epsilon of `steps` Poisson-sampled Gaussian releases, add or remove one example.

    No noise costs infinity and no step costs nothing. Raises UserError for an unknown accountant.
    For an argument out of range it gives the name, the value and the bound.
    """
    require_in_range(sample_rate, delta)
    events.require("noise_multiplier", noise_multiplier, noise_multiplier >= 0, ">= 0")
    events.require_count("steps", steps, 0)
    if steps and noise_multiplier == 0:
        return math.inf
    return epsilon_of_run(accountant, sample_rate, ((noise_multiplier, steps),), (), delta)


def epsilon_of(event: DpEvent, delta: float, accountant: str = "pld") -> float:
    """Return the epsilon of any event that the accountant can price; UserError for others."""
    return plugins.load("privacy/accountants", accountant).epsilon(event, delta)


def spent(
    sample_rate: float, segments: Segments, delta: float, released: tuple[float, ...] = ()
) -> list[float]:
    """Return the PLD epsilon after each of these segments, whose steps may be none.

    What was `released` before is in all of them. Every value is an upper bound, and the last one
    is that of the whole run. Raises UserError as `epsilon` does.
    """
    require_in_range(sample_rate, delta)
    for _, steps in segments:
        events.require_count("steps", steps, 0)
    noises = {noise for noise, steps in segments if steps}
    if not noises:
        return [epsilon_of_run(CERTIFICATE, sample_rate, (), released, delta)] * len(segments)
    increments = [events.varying(sample_rate, [s]) if s[1] else None for s in segments]
    draft = len(segments) > FINE_CURVE
    before = [events.varying(sample_rate, (), released)] if released else []
    found = pld.curve([*before, *increments], delta, draft)[len(before) :]
    curve = list(accumulate(found, max))
    # Equal steps cost a little less when composed at once; others are composed as the curve is.
    at_once = draft or len(noises) == 1
    if at_once:
        total = epsilon_of_run(CERTIFICATE, sample_rate, tuple(segments), released, delta)
        curve = [min(value, total) for value in curve]
    return curve


def require_in_range(sample_rate: float, delta: float) -> None:
    """Raise UserError for a rate or a delta that no run has."""
    events.require("sample_rate", sample_rate, 0 < sample_rate <= 1, "in (0, 1]")
    events.require("delta", delta, 0 < delta < 1, "in (0, 1)")


@lru_cache(maxsize=4096)
def epsilon_of_run(
    accountant: str,
    sample_rate: float,
    segments: tuple[tuple[float, int], ...],
    released: tuple[float, ...],
    delta: float,
    draft: bool = False,
) -> float:
    """Return the epsilon of all segments and of what was released; of nothing it is 0.

    Segments may have no steps. A draft is on a coarser grid. Raises UserError as `epsilon` does.
    """
    if not released and not any(steps for _, steps in segments):
        return 0.0
    event = events.varying(sample_rate, segments, released)
    return plugins.load("privacy/accountants", accountant).epsilon(event, delta, draft)
