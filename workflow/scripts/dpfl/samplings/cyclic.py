"""Every epoch goes through the same batches in the same order, which is public.

An example takes part in one step an epoch, as many steps apart as an epoch has. With noise that is
drawn anew in every step the price is that of `shuffled`; with correlated noise the whole run is one
Gaussian.
"""

from dp_accounting import DpEvent

from dpfl.privacy import events
from dpfl.samplings import Plan, shuffled

ADJACENCIES = shuffled.ADJACENCIES
IN_TURN = True


def event(plan: Plan) -> DpEvent:
    """Return the Gaussians of an example's steps, or the one of a run with correlated noise."""
    if plan.sensitivity is None:
        return shuffled.event(plan)
    return events.poisson_gaussian(1.0, plan.noise_multiplier / plan.sensitivity, 1)
