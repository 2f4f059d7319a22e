"""The noise is given; the budget decides how many of the planned steps are taken."""

from dpfl.contracts.bounds import bounded
from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy.search import affordable_steps

SETTINGS = {"noise_multiplier": "number > 0"}


@bounded(SETTINGS)
def schedule(work: Work, budget: Budget, *, noise_multiplier: float) -> Schedule:
    """Pay as many steps as epsilon buys at this noise; nothing is calibrated.

    Raises UserError for an argument out of range.
    """
    paid = affordable_steps(work, ((noise_multiplier, work.steps),), budget)
    return Schedule((noise_multiplier,) * work.rounds, paid)
