"""Every epoch goes through the same batches in the same order, which is public.

An example takes part in one step an epoch, as many steps apart as an epoch has. With noise that is
drawn anew in every step the price is that of `shuffled`; with correlated noise the whole run is one
Gaussian.
"""

from dataclasses import replace

import numpy as np
from dp_accounting import DpEvent

from dpfl import samplings
from dpfl.contracts.turn import Turn
from dpfl.factorizations import Factorization, Run
from dpfl.privacy import events
from dpfl.samplings import Plan, shuffled

ADJACENCIES = ("zero-out", "replace-one")
CORRELATES = True


def correlated(plan: Plan, noise: Factorization) -> Plan:
    """Return the plan with the sensitivity of a whole run; UserError as `participations`."""
    run = Run(plan.steps, samplings.participations(plan), samplings.batches_of_an_epoch(plan))
    return replace(plan, participations=run.participations, sensitivity=noise.sensitivity(run))


def event(plan: Plan) -> DpEvent:
    """Return the Gaussians of an example's steps, or the one of a run with correlated noise."""
    if plan.sensitivity is None:
        return shuffled.event(plan)
    return events.poisson_gaussian(1.0, plan.noise_multiplier / plan.sensitivity, 1)


def draw(turn: Turn) -> np.ndarray:
    """Return the step's part of the one order; who is left over never takes part."""
    at = turn.step % turn.batches
    return turn.order("order")[at * turn.size : (at + 1) * turn.size]
