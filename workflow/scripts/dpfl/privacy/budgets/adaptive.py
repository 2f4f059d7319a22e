"""The next round's share follows the progress of the released model (see dpfl.privacy.filter).

Noise that depends on what was released before is not covered by privacy loss distributions, whose
composition assumes a plan. A Renyi filter at ONE order fixed in advance covers it (Feldman and
Zrnic 2021, arXiv 2008.11193). While the steps' Renyi divergences sum to less than a bound, the run
is (epsilon, delta)-private, whatever the noise.
"""

import math

from dpfl.base.errors import UserError
from dpfl.contracts.bounds import bounded
from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy import events, renyi
from dpfl.privacy.search import noise_multiplier

SETTINGS = {
    "save": "number in (0, 1]",
    "spend": "number >= 1",
    "agreement": "number in [-1, 1]",
}

_GRID = 1.02  # between neighbouring levels of noise
_REACH = 6.0  # levels lie within this factor of the uniform noise
_ORDERS = range(2, 257)  # whole ones, whose divergence is a finite sum
_SAFETY = 1e-9  # relative, far above the rounding of the sums that are compared with the bound


@bounded(SETTINGS)
def schedule(
    work: Work, budget: Budget, *, save: float, spend: float, agreement: float
) -> Schedule:
    """Fix the order, the bound and the levels of noise; the shares are decided while training.

    A round gets a multiple of its equal share of what is left. It is `save` (below 1) while
    consecutive released updates agree (cosine above `agreement`), else `spend` (above 1). The last
    round gets the rest. The order is the best one for a uniform schedule. Raises UserError for an
    argument out of range, and for releases before the first step. Also if epsilon is too small for
    any order.
    """
    if work.released:
        raise UserError(
            "budget strategy adaptive prices steps alone, expected another one for a run that "
            "releases statistics before its first step"
        )
    uniform = noise_multiplier(
        work.sample_rate, work.steps, budget.epsilon, budget.delta, accountant="rdp"
    )
    order = _best_order(work, uniform, budget.delta)
    offset = renyi.conversion(order, budget.delta)
    reach = math.ceil(math.log(_REACH) / math.log(_GRID))
    levels = [uniform * _GRID**j for j in range(-reach, reach + 1)]
    rule = {
        "order": order,
        "budget": (budget.epsilon - offset) * (1 - _SAFETY),
        "offset": offset,
        "levels": [[z, _cost(work.sample_rate, z, order)] for z in levels],
        "save": save,
        "spend": spend,
        "agreement": agreement,
    }
    return Schedule((uniform,) * work.rounds, work.steps, rule)


def _best_order(work: Work, noise: float, delta: float) -> int:
    event = events.poisson_gaussian(work.sample_rate, noise, work.steps)
    _, order = renyi.composed(event, list(_ORDERS)).get_epsilon_and_optimal_order(delta)
    return int(order)


def _cost(sample_rate: float, noise: float, order: int) -> float:
    """Return the Renyi divergence of one step."""
    return renyi.divergence(events.poisson_gaussian(sample_rate, noise, 1), order)
