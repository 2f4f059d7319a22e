"""What a price in epsilon buys: the noise of planned steps, or the steps at planned noise."""

import math
from bisect import bisect_right
from collections.abc import Callable
from functools import lru_cache

import dp_accounting
from scipy.optimize import brentq

from dpfl.base.errors import UserError
from dpfl.contracts.schedule import Budget, Work
from dpfl.privacy import events
from dpfl.privacy.accounting import CERTIFICATE, Segments, epsilon_of_run, require_in_range

TOLERANCE = 2e-4  # how far below its target, relatively, a calibrated epsilon may stay
WIDEST = 30.0  # of the search, in log z: 13 orders of magnitude
ATTEMPTS = 3  # where the drafts do not lead there, the fine grid is searched


@lru_cache(maxsize=1024)
def noise_multiplier(
    sample_rate: float,
    steps: int,
    epsilon: float,
    delta: float,
    accountant: str = "pld",
    released: tuple[float, ...] = (),
) -> float:
    """Return the noise with which `steps` steps cost epsilon: at most it, within 0.1 % of it.

    The steps share epsilon with what was `released` before (see dpfl.privacy.events.varying). The
    promise is checked on the fine grid. Raises UserError as `noise_multipliers` does.
    """
    work, budget = Work(sample_rate, steps, 1, released), Budget(epsilon, delta, accountant)
    return noise_multipliers(work, (1.0,), budget)[0]


@lru_cache(maxsize=64)
def noise_multipliers(work: Work, weights: tuple[float, ...], budget: Budget) -> tuple[float, ...]:
    """Return the noise of every round, 1/z_t^2 in proportion to its weight: at most epsilon.

    The promise, as that of `noise_multiplier`, is checked on the fine grid. Raises UserError for an
    argument out of range, and unless there is one positive weight a round. Also if what was
    released costs as much alone.
    """
    require_in_range(work.sample_rate, budget.delta)
    events.require("epsilon", budget.epsilon, 0 < budget.epsilon < math.inf, "> 0 and finite")
    events.require_count("steps", work.steps, 1)
    _require_left(work.released, budget.epsilon, budget.delta, budget.accountant)
    valid = len(weights) == work.rounds and min(weights) > 0
    events.require("weights", weights, valid, f"{work.rounds} numbers > 0")
    mean = sum(weights) / len(weights)

    def noise(log_z: float) -> tuple[float, ...]:
        return tuple(math.exp(log_z) * math.sqrt(mean / weight) for weight in weights)

    def price(log_z: float, draft: bool = False) -> float:
        segments = tuple((z, work.steps_per_round) for z in noise(log_z))
        return epsilon_of_run(
            budget.accountant, work.sample_rate, segments, work.released, budget.delta, draft
        )

    start = _central_limit_guess(work.sample_rate, work.steps, budget.epsilon, budget.delta)
    return noise(_search(price, budget.epsilon, start))


def affordable_steps(work: Work, segments: Segments, budget: Budget) -> int:
    """Return how many of the steps of these segments have a PLD epsilon of at most the budget's.

    What the work has released before is part of it. Raises UserError as `noise_multipliers` does.
    """
    require_in_range(work.sample_rate, budget.delta)
    events.require("epsilon", budget.epsilon, budget.epsilon > 0, "> 0")
    _require_left(work.released, budget.epsilon, budget.delta, CERTIFICATE)
    limit = sum(steps for _, steps in segments)

    def price(steps: int) -> float:
        first = _first(segments, steps)
        return epsilon_of_run(CERTIFICATE, work.sample_rate, first, work.released, budget.delta)

    if price(limit) <= budget.epsilon:
        return limit
    return bisect_right(range(limit), budget.epsilon, key=price) - 1


def _first(segments: Segments, steps: int) -> tuple[tuple[float, int], ...]:
    """Return the beginning of the segments that has this many steps."""
    taken = []
    for noise, planned in segments:
        taken.append((noise, min(planned, steps)))
        steps -= taken[-1][1]
    return tuple(taken)


def _require_left(
    released: tuple[float, ...], epsilon: float, delta: float, accountant: str
) -> None:
    """Raise UserError if what was released leaves nothing for the steps."""
    taken = epsilon_of_run(accountant, 1.0, (), released, delta)
    if taken >= epsilon:
        listed = ", ".join(f"{z:g}" for z in released)
        raise UserError(
            f"epsilon is {epsilon:g}, must be > {taken:.4g}, which what is released before the "
            f"first step costs alone (noise multipliers {listed})"
        )


def _search(price: Callable[..., float], target: float, start: float) -> float:
    """Return log z: solve on drafts for a goal that is shifted until the fine price fits."""
    aim = (1 - TOLERANCE / 2) * target
    goal, log_z = target, start
    for _ in range(ATTEMPTS):
        log_z = _root(lambda x, goal=goal: _log_ratio(price(x, draft=True), goal), log_z)
        fine = price(log_z)
        if (1 - TOLERANCE) * target <= fine <= target:
            return log_z
        goal *= math.exp(_log_ratio(aim, fine))
    log_z = _root(lambda x: _log_ratio(price(x), aim), log_z)
    while price(log_z) > target:
        log_z += TOLERANCE / 10
    return log_z


def _root(excess: Callable[[float], float], start: float) -> float:
    """Return the root of a decreasing function, bracketed outwards from a guess."""
    side = 1 if excess(start) > 0 else -1
    near, width = start, 0.02
    while side * excess(near + side * width) > 0:
        near, width = near + side * width, 2 * width
        if width > WIDEST:
            raise UserError("epsilon is out of reach: no noise has this price by the accountant")
    return brentq(excess, *sorted((near, near + side * width)), xtol=1e-5)


def _log_ratio(value: float, goal: float) -> float:
    """Return log(value / goal), kept finite where an accountant says 0 or infinity."""
    return math.log(max(value, 1e-9)) - math.log(max(goal, 1e-9)) if value < math.inf else 20.0


def _central_limit_guess(q: float, steps: int, epsilon: float, delta: float) -> float:
    """Return log z at which the limit mu = q sqrt(T (exp(1/z^2) - 1)) meets (epsilon, delta)."""
    mu = 1 / dp_accounting.get_sigma_gaussian(epsilon, delta)
    return -math.log(math.log1p((mu / q) ** 2 / steps)) / 2
