"""p3sgd: DP-SGD that tries several scales of noise and keeps one (Wu et al. 2019, CVPR).

Of P3SGD only the abstract is at hand; the internals are assumed. The unit of protection there is a
patient, a group of examples. Here a group is one example. Its clipped local update is, up to the
rate, its clipped gradient. (A method for larger groups is dp-fedavg, with a client for a group.)
The scales are the candidates c_j. The one whose step has the least loss on the public examples is
kept.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from dpfl import clippings
from dpfl.contracts.bounds import bounded
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release, joint
from dpfl.draws.gaussian import noisy_sum
from dpfl.gradients.flat import joined, trained
from dpfl.gradients.layout import channels_last
from dpfl.gradients.step import Step
from dpfl.privacy.release import remaining

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
SETTINGS = {
    "candidates": "list of number > 0",
    "trial_rate": "number > 0",
}
COST = 1.3
NEEDS_PUBLIC = True


@dataclass(frozen=True)
class Candidates:
    """(sum_i g_i min(1, C / |g_i|) + N(0, (c_j s C)^2 I)) / B for every j, all of them released.

    Every candidate is a release of the same sum, so all are charged: 1/z^2 = sum 1/(c_j s)^2.
    """

    clipping: ClippingRule
    candidates: tuple[float, ...]

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return a noisy sum for each candidate and the count of the clipping rule."""
        count = self.clipping.count_multiplier(noise_multiplier, expected_batch)
        return Release((*self._multipliers(noise_multiplier, count), count))

    def estimate(self, step: Step) -> torch.Tensor:
        """Return every candidate's noisy mean gradient [J, D]."""
        z, expected = step.noise_multiplier, step.expected_batch
        gradients, norms = step.gradients()
        clip_norm = self.clipping.bound(norms, norms)
        total = joined(gradients.clipped_sum(clip_norm))
        count = self.clipping.count_multiplier(z, expected)
        spreads = [multiplier * clip_norm for multiplier in self._multipliers(z, count)]
        noisy = [
            noisy_sum(total, step.normal(len(total)), spread).div_(expected).to(total)
            for spread in spreads
        ]
        clippings.move(self.clippings, (norms,), (clip_norm,), step)
        return torch.stack(noisy)

    def _multipliers(self, noise_multiplier: float, count: float) -> list[float]:
        base = remaining(noise_multiplier, [count]) / joint(self.candidates)
        return [c * base for c in self.candidates]


@dataclass(frozen=True)
class CandidateDPSGD:
    """The one of several candidates that does best on public examples: post-processing."""

    inner: Candidates
    trial_rate: float

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return self.inner.clippings

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return what all candidates release."""
        return self.inner.release(noise_multiplier, expected_batch)

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the best candidate's noisy mean gradient, flat [D]."""
        noisy = self.inner.estimate(step)
        return min(noisy.unbind(), key=lambda gradient: self._public_loss(step, gradient))

    @torch.no_grad()
    def _public_loss(self, step: Step, gradient: torch.Tensor) -> float:
        """Return the mean loss of the public examples after a trial step, which is taken back."""
        parameters = trained(step.model)
        before = [p.clone() for p in parameters]
        parts = gradient.split([p.numel() for p in parameters])
        for p, part in zip(parameters, parts, strict=True):
            p.sub_(part.view_as(p), alpha=self.trial_rate)
        outputs = step.model(channels_last(step.public.inputs))
        loss = float(step.loss_fn(outputs, step.public.targets).mean())
        for p, value in zip(parameters, before, strict=True):
            p.copy_(value)
        return loss if math.isfinite(loss) else math.inf


@bounded(SETTINGS)
def build(
    clipping: dict, candidates: Sequence[float] = (1.0, 1.2, 1.5), trial_rate: float = 0.1
) -> CandidateDPSGD:
    """Build the estimator; UserError for a candidate or a trial rate that is not above 0."""
    tried = Candidates(clippings.build(clipping), tuple(map(float, candidates)))
    return CandidateDPSGD(tried, trial_rate)
