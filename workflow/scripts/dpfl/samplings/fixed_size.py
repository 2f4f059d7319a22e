"""Every step draws a fresh batch of one size, without replacement.

Replace one, by Renyi differential privacy: Wang, Balle and Kasiviswanathan 2019, arXiv 1808.00087,
theorem 27. It is an upper bound, and no tight one. If all others oppose one row, then that it is
drawn moves the sum by 2 C: so half the noise costs what Poisson batches cost.
"""

import math
from dataclasses import replace

import numpy as np
from dp_accounting import (
    DpEvent,
    GaussianDpEvent,
    SampledWithoutReplacementDpEvent,
    SelfComposedDpEvent,
)

from dpfl import samplings
from dpfl.contracts.turn import Turn
from dpfl.samplings import Plan

ADJACENCIES = ("replace-one",)
_OF = 10**9  # the rate as a whole number of so many, rounded up


def event(plan: Plan) -> DpEvent:
    """Return the sampled Gaussians; a replaced row moves a sum by 2 C, their sensitivity."""
    samplings.sampled(plan)  # in range
    drawn = math.ceil(_OF * plan.sample_rate)
    release = GaussianDpEvent(plan.noise_multiplier / 2)
    return SelfComposedDpEvent(SampledWithoutReplacementDpEvent(_OF, drawn, release), plan.steps)


def attained(plan: Plan, delta: float) -> float:
    """Return what one row costs whose place others take that oppose it."""
    half = replace(plan, noise_multiplier=plan.noise_multiplier / 2)
    return samplings.priced("poisson", half, samplings.ADD_OR_REMOVE_ONE, delta).epsilon


def draw(turn: Turn) -> np.ndarray:
    """Return as many as the batch has, none twice."""
    return turn.order(turn.step)[: turn.size]
