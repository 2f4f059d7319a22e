"""Examples lie in groups that take turns, and each draws Poisson batches from its own examples.

For correlated noise whose C has as many bands as there are groups. The columns of C that an
example's steps pick do not overlap then. So these steps are Gaussians apart from each other, each
amplified by sampling (Choquette-Choo et al. 2023, arXiv 2306.08153, cyclic Poisson sampling). Who
lies in which group owes nothing to the other examples.
"""

from dataclasses import replace

import numpy as np
from dp_accounting import DpEvent

from dpfl import samplings
from dpfl.base.errors import UserError
from dpfl.contracts.turn import Turn
from dpfl.factorizations import Factorization, Run
from dpfl.privacy import events
from dpfl.samplings import Plan

ADJACENCIES = ("add-or-remove-one", "replace-one")
BANDED = True
CORRELATES = True


def correlated(plan: Plan, noise: Factorization) -> Plan:
    """Return the plan with a group a band; UserError unless C is banded."""
    samplings.sampled(plan)  # in range
    if noise.bands is None:
        raise UserError(f"factorization is {noise.name}, whose C has no bands; expected bsr")
    return replace(plan, groups=noise.bands, sensitivity=noise.sensitivity(Run(plan.steps, 1, 1)))


def for_one(plan: Plan) -> Plan:
    """Return the steps of an example's group, as fresh Poisson batches with fresh noise.

    Raises UserError without bands, and for batches larger than a group.
    """
    if plan.groups is None or plan.sensitivity is None:
        raise UserError("sampling cyclic-poisson is for banded noise; give a factorization")
    rate = plan.groups * plan.sample_rate
    events.require("bands x sample_rate", rate, rate <= 1, "at most 1")
    noise, steps = plan.noise_multiplier / plan.sensitivity, -(-plan.steps // plan.groups)
    return Plan(rate, noise, steps)


def event(plan: Plan) -> DpEvent:
    """Return the Gaussians of an example's group."""
    return samplings.sampled(for_one(plan))


def draw(turn: Turn) -> np.ndarray:
    """Return who is drawn of the group whose turn it is, each with the same rate.

    Everyone's group is a draw of its own: who is added or removed changes nobody else's.
    """
    group = np.floor(turn.groups * turn.draws("groups").uniform(turn.population))
    drawn = (
        turn.draws(turn.step).uniform(turn.population) < turn.groups * turn.size / turn.population
    )
    return np.flatnonzero((group == turn.step % turn.groups) & drawn)
