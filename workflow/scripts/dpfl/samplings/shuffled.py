"""Every epoch deals the examples out in a new order, each into one batch at most.

Shuffling has no amplification here: given the orders, an example takes part in one step an epoch.
So the price is exact, that of as many Gaussians as epochs were begun.
"""

import numpy as np
from dp_accounting import DpEvent

from dpfl import samplings
from dpfl.contracts.turn import Turn
from dpfl.privacy import events
from dpfl.samplings import Plan

ADJACENCIES = ("zero-out", "replace-one")


def event(plan: Plan) -> DpEvent:
    """Return the Gaussians of the steps that an example takes part in."""
    return events.poisson_gaussian(1.0, plan.noise_multiplier, samplings.participations(plan))


def draw(turn: Turn) -> np.ndarray:
    """Return the step's part of the epoch's order; who is left over waits for the next one."""
    epoch, at = divmod(turn.step, turn.batches)
    return turn.order("epoch", epoch)[at * turn.size : (at + 1) * turn.size]
