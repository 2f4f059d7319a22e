"""Every step costs the same, and together the planned steps cost the whole budget."""

from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy.search import affordable_steps, noise_multiplier


def schedule(work: Work, budget: Budget) -> Schedule:
    """Calibrate one noise multiplier so that all planned steps cost at most epsilon.

    Raises UserError for an argument out of range.
    """
    target = (budget.epsilon, budget.delta, budget.accountant)
    noise = noise_multiplier(work.sample_rate, work.steps, *target, work.released)
    paid = affordable_steps(work, ((noise, work.steps),), budget)
    return Schedule((noise,) * work.rounds, paid)
