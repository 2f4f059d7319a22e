"""A strategy's schedule and what it has spent after every round; calibrated once, then kept.

What is kept is priced again before it is used: see dpfl.privacy.cache.
"""

from dataclasses import asdict
from typing import Any

from dpfl import plugins
from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy.accounting import spent
from dpfl.privacy.cache import NoiseCache, fits
from dpfl.privacy.priceable import require_priceable


def priced_schedule(
    strategy: str, own: dict[str, Any], work: Work, budget: Budget, cache: NoiseCache
) -> tuple[Schedule, list[float]]:
    """Return the schedule and the PLD epsilon after every round; with a filter, none is known yet.

    `own` are the strategy's own settings. Raises UserError for an argument out of range.
    """
    key = {"budget": {"strategy": strategy, **own}, **asdict(work), **asdict(budget)}
    schedule, curve = _kept(cache.recall(key) or {}, work, budget)
    if schedule and fits(curve[-1], budget.epsilon):
        return schedule, curve
    schedule = plugins.load("privacy/budgets", strategy).schedule(work, budget, **own)
    if schedule.filter:
        return schedule, []
    content = {"noise": list(schedule.noise_multipliers), "paid_steps": schedule.paid_steps}
    cache.store(key, content)
    return schedule, _curve(schedule, work, budget)


def _kept(
    content: dict[str, Any], work: Work, budget: Budget
) -> tuple[Schedule | None, list[float]]:
    """Read a schedule from the cache and price it; None unless it has the right shape."""
    try:
        schedule = Schedule(tuple(map(float, content["noise"])), int(content["paid_steps"]))
        if len(schedule.noise_multipliers) != work.rounds:
            return None, []
        for noise in (min(schedule.noise_multipliers), max(schedule.noise_multipliers)):
            require_priceable(work.sample_rate, noise, work.steps, budget.delta)
        return schedule, _curve(schedule, work, budget)
    except (LookupError, TypeError, ValueError):
        return None, []


def _curve(schedule: Schedule, work: Work, budget: Budget) -> list[float]:
    """Return the PLD epsilon after every round, with what was released before the first."""
    return spent(work.sample_rate, schedule.segments(work), budget.delta, work.released)
