"""dpsgd-relevance: DP-SGD with noise by relevance budgets (R of FSDP alone). No proof."""

from dataclasses import dataclass

import torch

from dpfl import clippings
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Unproven
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Step
from dpfl.relevance import noise_scale
from dpfl.relevance.noise_scale import Relevance

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
NEEDS_PUBLIC = True


@dataclass(frozen=True)
class RelevanceDPSGD:
    """(sum_i g_i min(1, C / |g_i|) + z C n / share) / B, the shares those of the layers."""

    clipping: ClippingRule
    relevance: Relevance

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_batch: float) -> Unproven:
        """Return why there is no proof: a gradient may lie in the most relevant layer alone."""
        return Unproven(noise_scale.UNPROVEN, gaussian=True)

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the noisy mean gradient, flat [D]; an empty batch releases the noise alone."""
        gradients, norms = step.gradients()
        clip_norm = self.clipping.bound(norms, norms)
        total = joined(gradients.clipped_sum(clip_norm))
        noise = step.normal(total.numel()).to(total) * self.relevance.noise_scale(step)
        total.add_(noise, alpha=step.noise_multiplier * clip_norm)
        clippings.move(self.clippings, (norms,), (clip_norm,), step)
        return total.div_(step.expected_batch)


def build(clipping: dict) -> RelevanceDPSGD:
    """Build the estimator from the clipping settings of a method."""
    return RelevanceDPSGD(clippings.build(clipping), Relevance())
