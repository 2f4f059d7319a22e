"""Privacy loss distributions: the accountant of every printed epsilon, tight from above.

Add or remove one example; losses rounded pessimistically to a grid (Doroshenko et al. 2022).
"""

import math
from collections.abc import Sequence
from functools import lru_cache, reduce
from itertools import accumulate

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


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the epsilon of an event, on the coarser grid if it is a draft."""
    grid = DRAFT_GRID if draft else GRID
    return float(_distribution(event, 1, grid).get_epsilon_for_delta(delta))


def curve(increments: Sequence[DpEvent | None], delta: float, draft: bool = False) -> list[float]:
    """Return the epsilon after each of these events on top of those before; None costs nothing."""
    grid = DRAFT_GRID if draft else GRID
    part = lru_cache(maxsize=4)(lambda event: _distribution(event, 1, grid))
    totals = accumulate(
        increments,
        lambda total, event: total if event is None else total.compose(part(event)),
        initial=pld.identity(value_discretization_interval=grid),
    )
    return [float(total.get_epsilon_for_delta(delta)) for total in totals][1:]


def _distribution(event: DpEvent, count: int, grid: float) -> pld.PrivacyLossDistribution:
    """Return the distribution of `count` repetitions of an event."""
    match event:
        case SelfComposedDpEvent(event=inner, count=times):
            return _distribution(inner, times * count, grid)
        case GaussianDpEvent(noise_multiplier=z):
            return _one_step(1.0, z / math.sqrt(count), grid)
        case PoissonSampledDpEvent(sampling_probability=q, event=GaussianDpEvent() as release):
            return _one_step(q, release.noise_multiplier, grid).self_compose(count)
        case ComposedDpEvent(events=parts):
            found = (_distribution(part, count, grid) for part in parts)
            return reduce(lambda total, part: total.compose(part), found)
    raise UserError(
        f"PLD cannot price {event}: only a Gaussian or a Poisson-sampled Gaussian; "
        "several releases of one batch are one Gaussian with their joint multiplier"
    )


# A step on the fine grid takes .2 s and a few MB; a plan is priced three times on its way.
@lru_cache(maxsize=32)
def _one_step(q: float, z: float, grid: float) -> pld.PrivacyLossDistribution:
    return pld.from_gaussian_mechanism(z, value_discretization_interval=grid, sampling_prob=q)
