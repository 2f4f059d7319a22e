"""The plain gradient, or the plain mean of updates: every method at epsilon = infinity."""

from collections.abc import Iterable
from dataclasses import dataclass

import torch

from dpfl.contracts.federation import Cohort
from dpfl.contracts.release import Unproven
from dpfl.draws.noise import Normal
from dpfl.gradients.plain import gradient_of_sum
from dpfl.gradients.step import Step

OWN_GRADIENTS = True


@dataclass(frozen=True)
class NonPrivate:
    """The sum over the same Poisson sample as the private runs: no clipping, no noise.

    sum_i g_i / B over a batch, or sum_k u_k / m over a cohort, whichever the method samples.
    """

    clippings: tuple = ()

    def release(self, noise_multiplier: float, expected: float) -> Unproven:
        """Return why nothing is certified."""
        return Unproven(("no clipping and no noise: epsilon is infinite",))

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the gradient of the summed loss over the expected batch size, flat [D]."""
        total = gradient_of_sum(step.model, step.loss_fn, step.inputs, step.targets)
        return total.div_(step.expected_batch)

    def aggregate(
        self,
        updates: Iterable[torch.Tensor],
        cohort: Cohort,
        *,
        noise_multiplier: float,
        normal: Normal,
    ) -> torch.Tensor:
        """Return the sum of the updates over the expected cohort [D], typed like the weights."""
        total = torch.zeros_like(cohort.like, dtype=torch.float64)
        for update in updates:
            total.add_(update)
        return total.div_(cohort.expected).to(cohort.like.dtype)


def build(clipping: dict) -> NonPrivate:
    """Build the estimator; the clipping settings do not apply."""
    return NonPrivate()
