"""DP-SGD: clip every example's gradient, add Gaussian noise to the sum (Abadi et al. 2016)."""

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor

from dpfl import clippings
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release
from dpfl.draws.gaussian import noisy_sum
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Gradients, Step
from dpfl.privacy.release import remaining

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
NOISE_IS_Z_C = True


def as_a_whole(gradients: Gradients, clip_norm: float) -> list[Tensor]:
    """Return sum_i g_i min(1, C / |g_i|)."""
    return gradients.clipped_sum(clip_norm)


@dataclass(frozen=True)
class DPSGD:
    """(sum_i g_i min(1, C / |g_i|) + N(0, z_sum^2 C^2 I)) / B, with B the expected batch size.

    Adding or removing one example moves the sum by at most C. So a step is one Poisson-subsampled
    Gaussian of multiplier z (Abadi et al. 2016, algorithm 1). z_sum is z, or a little more where
    the clipping rule releases a count as well. Another `clipped_sum(gradients, C)` may take the
    place of the sum, if one example moves it by at most C.
    """

    clipping: ClippingRule
    clipped_sum: Callable[[Gradients, float], list[Tensor]] = as_a_whole

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return the noisy sum and the count of the clipping rule."""
        count = self.clipping.count_multiplier(noise_multiplier, expected_batch)
        return Release((remaining(noise_multiplier, [count]), count))

    def estimate(self, step: Step) -> Tensor:
        """Return the noisy mean gradient, flat [D]; an empty batch releases the noise alone."""
        z, expected = step.noise_multiplier, step.expected_batch
        gradients, norms = step.gradients()
        clip_norm = self.clipping.bound(norms, norms)
        total = joined(self.clipped_sum(gradients, clip_norm))
        count = self.clipping.count_multiplier(z, expected)
        noisy = noisy_sum(total, step.normal(len(total)), remaining(z, [count]) * clip_norm)
        clippings.move(self.clippings, (norms,), (clip_norm,), step)
        return noisy.div_(expected).to(total.dtype)


def build(clipping: dict) -> DPSGD:
    """Build the estimator from the clipping settings of a method."""
    return DPSGD(clippings.build(clipping))
