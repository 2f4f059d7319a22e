"""Who takes part in which step is known, such as a cohort that is drawn from a public seed.

Nothing is amplified: the price is exact, that of the steps of who takes part most often.
"""

import numpy as np
from dp_accounting import DpEvent

from dpfl.base.errors import UserError
from dpfl.contracts.turn import Turn
from dpfl.privacy import events
from dpfl.samplings import Plan

ADJACENCIES = ("zero-out", "replace-one")
BEFOREHAND = True


def event(plan: Plan) -> DpEvent:
    """Return the Gaussians of these steps; UserError if their number is not given."""
    if plan.participations is None:
        raise UserError("participations is missing: the most steps that one takes part in")
    within = f"in [1, {plan.steps}] (steps)"
    events.require(
        "participations", plan.participations, 1 <= plan.participations <= plan.steps, within
    )
    return events.poisson_gaussian(1.0, plan.noise_multiplier, plan.participations)


def draw(turn: Turn) -> np.ndarray:
    """Return who was drawn in public."""
    return np.array(turn.known, dtype=int)
