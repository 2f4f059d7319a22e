"""The exact price of Gaussians without sampling (Balle and Wang 2018, theorem 8).

k releases at noise multiplier z are one Gaussian with mu = sqrt(k)/z, add or remove one example.
"""

from dp_accounting import DpEvent, get_epsilon_gaussian

from dpfl.base.errors import UserError
from dpfl.privacy import events

SAMPLED = False


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return the exact epsilon; a draft costs the same. UserError for any other event."""
    precision = events.precision(event)
    if not precision:
        raise UserError(
            f"gaussian cannot price {event}: only Gaussians without sampling have its closed form, "
            "a sampled batch is a mixture of two Gaussians; use pld"
        )
    return float(get_epsilon_gaussian(precision**-0.5, delta))
