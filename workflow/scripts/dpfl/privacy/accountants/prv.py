"""Opacus' privacy random variables (Gopi et al. 2021), shown beside the truth."""

from dp_accounting import DpEvent, GaussianDpEvent, PoissonSampledDpEvent, SelfComposedDpEvent
from opacus.accountants import PRVAccountant

from dpfl.errors import UserError


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return Opacus' upper bound on the epsilon of an event; a draft costs the same."""
    accountant = PRVAccountant()
    accountant.history = [_history(event)]
    return float(accountant.get_epsilon(delta))


def _history(event: DpEvent) -> tuple[float, float, int]:
    """Return Opacus' record of an event: noise multiplier, sample rate, steps."""
    match event:
        case SelfComposedDpEvent(event=GaussianDpEvent(noise_multiplier=z), count=steps):
            return z, 1.0, steps
        case SelfComposedDpEvent(
            event=PoissonSampledDpEvent(
                sampling_probability=q, event=GaussianDpEvent(noise_multiplier=z)
            ),
            count=steps,
        ):
            return z, q, steps
    raise UserError(f"PRV cannot price {event}: only repeated Poisson-sampled Gaussians")
