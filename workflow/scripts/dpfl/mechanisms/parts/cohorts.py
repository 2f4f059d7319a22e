"""Sums of updates as published code makes them: thresholds from raw norms, tensor by tensor."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest

import torch
from torch import Tensor

from dpfl.contracts.federation import Cohort
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Unproven
from dpfl.draws.noise import Normal

Factor = Callable[[Tensor, float], Tensor]
"""What norms [K] are multiplied with, and the threshold."""
Threshold = Callable[[Tensor, float], float]
"""What the threshold of some raw norms [K] is, and the clip norm of the method."""


def shortened(norms: Tensor, threshold: float) -> Tensor:
    """Return min(1, S / norm)."""
    return (threshold / norms).clamp(max=1.0)


def fixed(norms: Tensor, clip_norm: float) -> float:
    """Return C."""
    return clip_norm


def median(norms: Tensor, clip_norm: float) -> float:
    """Return the median of raw norms; C of nobody."""
    return float(norms.quantile(0.5)) if len(norms) else clip_norm


def mean(norms: Tensor, clip_norm: float) -> float:
    """Return the mean of raw norms; C of nobody."""
    return float(norms.mean()) if len(norms) else clip_norm


@dataclass(frozen=True)
class PublishedFedAvg:
    """sum_k w_k f(u_k) / m, each tensor by itself or whole, with noise of z times its threshold.

    f shortens to a threshold S, or does what was published in its place. With `by_size` w_k is how
    many examples client k has, over the cohort's mean. Where none clips, S is C.
    """

    clipping: ClippingRule
    reasons: tuple[str, ...]
    threshold: Threshold = fixed
    factor: Factor = shortened
    by_tensor: bool = False
    by_size: bool = False

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_clients: float) -> Unproven:
        """Return why nothing is proven of a round."""
        return Unproven(self.reasons)

    def aggregate(
        self,
        updates: Iterable[Tensor],
        cohort: Cohort,
        *,
        noise_multiplier: float,
        normal: Normal,
    ) -> Tensor:
        """Return the noisy mean of the updates [D], typed like the server's weights.

        Columns behind the last parameter, such as those of canaries, are a tensor of their own.
        """
        # One that is not finite adds nothing.
        finite = ((update, update.isfinite().all()) for update in updates)
        rows = [torch.where(whole, update.double(), 0.0) for update, whole in finite]
        found = torch.stack(rows) if rows else cohort.like.new_zeros((0, len(cohort.like))).double()
        weights = self._weights(len(found), cohort.sizes).to(found)
        total, spread = torch.zeros(len(cohort.like)).to(found), torch.zeros(len(cohort.like))
        for part in self._parts(cohort):
            norms = torch.linalg.vector_norm(found[:, part], dim=1)
            threshold = self.threshold(norms, self.clipping.clip_norm)
            factor = torch.where(norms > 0, self.factor(norms, threshold), 1.0)
            total[part] = (weights * factor) @ found[:, part]
            spread[part] = noise_multiplier * threshold
        noisy = total + normal(len(total)).to(total) * spread.to(total)
        return noisy.div_(cohort.expected).to(cohort.like.dtype)

    def _parts(self, cohort: Cohort) -> Sequence[slice]:
        if not self.by_tensor or not cohort.parts:
            return (slice(0, len(cohort.like)),)
        end = max(part.stop for part in cohort.parts)
        return [*cohort.parts, *([slice(end, len(cohort.like))] if end < len(cohort.like) else [])]

    def _weights(self, count: int, sizes: Sequence[int]) -> Tensor:
        """Return what each update counts [K], 1 on average; one without a size counts 1."""
        if not self.by_size or not sizes:
            return torch.ones(count, dtype=torch.float64)
        usual = sum(sizes) / len(sizes)
        pairs = zip_longest(sizes[:count], range(count), fillvalue=usual)
        return torch.tensor([size / usual for size, _ in pairs], dtype=torch.float64)
