"""DP-SGD as published code makes it: each tensor clipped at the median of raw norms in a batch."""

from dataclasses import dataclass

import torch
from torch import Tensor

from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Unproven
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Step

THRESHOLDS = (
    "thresholds are medians of raw norms, without noise: one example moves them, and the noise "
    "with them",
)


@dataclass(frozen=True)
class BatchMedians:
    """sum_i clip(g_i) / B with noise of z times the threshold of each tensor; C of nobody."""

    clipping: ClippingRule
    reasons: tuple[str, ...]

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_batch: float) -> Unproven:
        """Return why nothing is proven of a step."""
        return Unproven(self.reasons)

    def estimate(self, step: Step) -> Tensor:
        """Return the noisy mean gradient, flat [D]."""
        gradients, norms = step.gradients()
        by_parameter = gradients.parameter_norms()
        usual = by_parameter.new_full((len(by_parameter),), self.clipping.clip_norm)
        bounds = by_parameter.quantile(0.5, dim=1) if len(norms) else usual
        bounds = bounds.clamp(min=torch.finfo(bounds.dtype).tiny)
        parts = gradients.clipped_sum_by_parameter(bounds[: gradients.parameter_count].tolist())
        spread = torch.cat(
            [own.new_full((own.numel(),), bound) for own, bound in zip(parts, bounds, strict=True)]
        )
        total = joined(parts).double()
        noise = step.normal(len(total)).to(total) * spread * step.noise_multiplier
        return (total + noise).div_(step.expected_batch).to(parts[0].dtype)
