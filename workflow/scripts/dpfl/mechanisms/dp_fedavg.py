"""DP-FedAvg: clip every client's whole update, add Gaussian noise to the sum (unit: the client).

McMahan et al. 2018, arXiv 1710.06963, algorithm 1 with its estimator of fixed denominator and equal
weights. The clipping rule `quantile` makes it that of Andrew et al. 2021, arXiv 1905.03871.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

import torch

from dpfl import clippings
from dpfl.contracts.federation import Cohort
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release
from dpfl.draws.gaussian import noisy_sum
from dpfl.draws.noise import Normal
from dpfl.privacy.release import remaining

UNIT = "client"
CLIPPING_RULES = ("fixed", "quantile")


@dataclass(frozen=True)
class DPFedAvg:
    """(sum_k u_k min(1, C / |u_k|) + N(0, (z_sum C)^2 I)) / m, with m the expected cohort.

    Adding or removing one client, with whatever update, moves the sum by at most C. Where the
    clipping rule counts as well, sum and count are one Gaussian of multiplier z. So a round is one
    Poisson-subsampled Gaussian.
    """

    clipping: ClippingRule

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_clients: float) -> Release:
        """Return what a round releases: the noisy sum, and the count of the clipping rule."""
        count = self.clipping.count_multiplier(noise_multiplier, expected_clients)
        return Release((remaining(noise_multiplier, [count]), count))

    def aggregate(
        self,
        updates: Iterable[torch.Tensor],
        cohort: Cohort,
        *,
        noise_multiplier: float,
        normal: Normal,
    ) -> torch.Tensor:
        """Return the noisy mean of the updates [D], shaped and typed like the server's weights.

        Updates are taken one at a time; none at all release the noise alone. One that is not
        finite adds nothing and counts as longer than C.
        """
        clip_norm = self.clipping.clip_norm
        spread = clip_norm * self.release(noise_multiplier, cohort.expected).multipliers[0]
        # In float64, where rounding moves no sum by more than its last digits.
        total, votes = torch.zeros_like(cohort.like, dtype=torch.float64), 0.0
        for update in updates:
            norm = float(torch.linalg.vector_norm(update, dtype=torch.float64))
            if math.isfinite(norm):
                total.add_(update, alpha=1.0 if norm <= clip_norm else clip_norm / norm)
            votes += 0.5 if norm <= clip_norm else -0.5
        noisy = noisy_sum(total, normal(total.numel()), spread)
        self.clipping.after(
            votes, noise_multiplier=noise_multiplier, expected=cohort.expected, normal=normal
        )
        return noisy.div_(cohort.expected).to(cohort.like.dtype)


def build(clipping: dict) -> DPFedAvg:
    """Build the mechanism from the clipping rule of a method and its settings."""
    return DPFedAvg(clippings.build(clipping))
