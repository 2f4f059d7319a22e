"""DP-SGD: clip every example's gradient, add Gaussian noise to the sum (Abadi et al. 2016)."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from dpfl.gradients import clipped_sum
from dpfl.noise import Normal


@dataclass(frozen=True)
class DPSGD:
    """(sum_i g_i min(1, C / |g_i|) + N(0, z^2 C^2 I)) / B, with B the expected batch size.

    Adding or removing one example moves the sum by at most C, so that a step is one
    Poisson-subsampled Gaussian with multiplier z (Abadi et al. 2016, algorithm 1).
    """

    clip_norm: float
    unproven: tuple[str, ...] = ()

    def estimate(
        self,
        model: torch.nn.Module,
        loss_fn: Callable,
        inputs: torch.Tensor,
        targets: torch.Tensor,
        *,
        noise_multiplier: float,
        expected_batch: float,
        normal: Normal,
    ) -> torch.Tensor:
        """Return the noisy mean gradient, flat [D]; an empty batch releases the noise alone."""
        blocks, _ = clipped_sum(model, loss_fn, inputs, targets, self.clip_norm)
        total = torch.cat([block.reshape(-1) for block in blocks])
        noise = normal(total.numel()).to(total.device)
        total.add_(noise, alpha=noise_multiplier * self.clip_norm)
        return total.div_(expected_batch)


def build(clipping: dict) -> DPSGD:
    """Build the estimator from the clipping settings of a method."""
    return DPSGD(clip_norm=float(clipping["clip_norm"]))
