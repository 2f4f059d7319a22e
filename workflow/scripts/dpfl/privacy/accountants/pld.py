"""Privacy loss distributions: the accountant of every printed epsilon, tight from above.

Add or remove one example; losses rounded pessimistically to a grid (Doroshenko et al. 2022).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from itertools import accumulate

import numpy as np
from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)
from dp_accounting.pld import privacy_loss_distribution as pld

from dpfl.base.errors import UserError

GRID, DRAFT_GRID = 1e-4, 1e-3
POINTS, DRAFT_POINTS = 2**18, 2**15  # that the losses of one step may take: a second or two
TINY = 0.01  # an epsilon below it is priced on a grid as fine beside it
FINE = 4  # points of the grid that a step's shift is long at least; 1 % of a tiny epsilon is lost
TAIL = 10.0  # deviations of the noise beyond which the library keeps nothing, exp(-50)

Steps = tuple[float, float, int]
"""Releases that are alike: their sampling rate, noise multiplier and number."""


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the epsilon of an event, on the coarser grid if it is a draft."""

    def price(grid: float) -> list[float]:
        return [float(_distribution(event, grid).get_epsilon_for_delta(delta))]

    return _resolved(price, [event], draft)[0]


def curve(increments: Sequence[DpEvent | None], delta: float, draft: bool = False) -> list[float]:
    """Return the epsilon after each of these events on top of those before; None costs nothing."""

    def price(grid: float) -> list[float]:
        part = lru_cache(maxsize=4)(lambda event: _distribution(event, grid))
        totals = accumulate(
            increments,
            lambda total, event: total if event is None else total.compose(part(event)),
            initial=pld.identity(value_discretization_interval=grid),
        )
        return [float(total.get_epsilon_for_delta(delta)) for total in totals][1:]

    return _resolved(price, [event for event in increments if event is not None], draft)


def _resolved(
    price: Callable[[float], list[float]], events: Sequence[DpEvent], draft: bool
) -> list[float]:
    """Return prices on a grid that fits into memory and is fine beside losses and epsilon.

    Losses are rounded up, so every grid gives an upper bound.
    """
    usual, points = (DRAFT_GRID, DRAFT_POINTS) if draft else (GRID, POINTS)
    steps = [own for event in events for own in _steps(event)]
    shifts = [q / z for q, z, _ in steps]  # how far one step moves, in its noise
    total = math.sqrt(sum(own[2] * shift**2 for own, shift in zip(steps, shifts, strict=True)))
    largest = max(_range(q, z) for q, z, _ in steps)
    grid = max(usual * min(min(shifts) / (FINE * GRID), 1), largest / points)
    found, finest = price(grid), max(largest, TAIL * total) / points
    while 0 < found[-1] < TINY and grid > max(finest, found[-1] / TINY * usual):
        grid = max(finest, found[-1] / TINY * usual)
        found = price(grid)
    return found


def _range(q: float, z: float) -> float:
    """Return from where to where the losses of one step go that are kept."""
    largest = (TAIL + 0.5 / z) / z
    if q == 1:
        return largest
    least = math.log1p(-q)  # what an example that is not drawn shows
    return float(np.logaddexp(least, math.log(q) + largest)) - least


def _steps(event: DpEvent, times: int = 1) -> Iterator[Steps]:
    """Yield the releases of an event that is repeated; those without sampling are one each."""
    match event:
        case SelfComposedDpEvent(event=inner, count=count):
            yield from _steps(inner, count * times)
        case ComposedDpEvent(events=parts):
            for part in parts:
                yield from _steps(part, times)
        case GaussianDpEvent(noise_multiplier=z):
            yield 1.0, z / math.sqrt(times), 1
        case PoissonSampledDpEvent(sampling_probability=q, event=GaussianDpEvent() as release):
            yield q, release.noise_multiplier, times
        case _:
            raise UserError(
                f"PLD cannot price {event}: only a Gaussian or a Poisson-sampled Gaussian; "
                "several releases of one batch are one Gaussian with their joint multiplier"
            )


def _distribution(event: DpEvent, grid: float) -> pld.PrivacyLossDistribution:
    """Return the distribution of an event's losses."""

    def several(q: float, z: float, times: int) -> pld.PrivacyLossDistribution:
        one = _one_step(q, z, grid)
        return one if q == 1 else one.self_compose(times)

    parts = (several(*own) for own in _steps(event))
    return reduce(lambda total, part: total.compose(part), parts)


# A step on the fine grid takes .2 s and a few MB; a plan is priced three times on its way.
@lru_cache(maxsize=32)
def _one_step(q: float, z: float, grid: float) -> pld.PrivacyLossDistribution:
    return pld.from_gaussian_mechanism(z, value_discretization_interval=grid, sampling_prob=q)
