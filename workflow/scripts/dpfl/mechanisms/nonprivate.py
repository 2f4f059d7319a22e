"""The plain gradient: what every method becomes at epsilon = infinity."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from dpfl.layout import channels_last
from dpfl.noise import Normal


@dataclass(frozen=True)
class NonPrivate:
    """sum_i g_i / B over the same Poisson batches as the private runs: no clipping, no noise."""

    unproven: tuple[str, ...] = ("no clipping and no noise: epsilon is infinite",)

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
        """Return the gradient of the summed loss over the expected batch size, flat [D]."""
        parameters = list(model.parameters())
        if len(inputs) == 0:
            return torch.cat([torch.zeros_like(p).reshape(-1) for p in parameters])
        total = loss_fn(model(channels_last(inputs)), targets).sum()
        gradients = torch.autograd.grad(total, parameters)
        return torch.cat([g.reshape(-1) for g in gradients]).div_(expected_batch)


def build(clipping: dict) -> NonPrivate:
    """Build the estimator; the clipping settings do not apply."""
    return NonPrivate()
