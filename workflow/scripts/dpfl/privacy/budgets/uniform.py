"""Every step costs the same, and together the planned steps cost the whole budget."""

from dpfl.privacy.accounting import affordable_steps, noise_multiplier
from dpfl.privacy.schedule import Schedule


def schedule(
    sample_rate: float, steps: int, epsilon: float, delta: float, accountant: str
) -> Schedule:
    """Calibrate the noise with `accountant` so that `steps` steps cost at most epsilon.

    Raises UserError for an argument out of range.
    """
    noise = noise_multiplier(sample_rate, steps, epsilon, delta, accountant)
    return Schedule(noise, affordable_steps(sample_rate, noise, epsilon, delta, steps))
