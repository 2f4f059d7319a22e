"""The noise is given; the budget decides how many of the planned steps are taken."""

from dpfl.privacy.accounting import affordable_steps
from dpfl.privacy.schedule import Schedule


def schedule(
    sample_rate: float,
    steps: int,
    epsilon: float,
    delta: float,
    accountant: str,
    *,
    noise_multiplier: float,
) -> Schedule:
    """Pay as many steps as epsilon buys at this noise; nothing is calibrated with `accountant`.

    Raises UserError for an argument out of range.
    """
    paid = affordable_steps(sample_rate, noise_multiplier, epsilon, delta, steps)
    return Schedule(noise_multiplier, paid)
