"""fsdp-certified: FSDP's two sums with a proof: clipped before noise, in a basis without data.

The orthonormal rows H [k, D] owe nothing to the batch. v_i = H g_i and f_i = g_i - H^T v_i are
clipped to C_V and C_P. One joint event is released,

    S_V = sum v_i + N(0, (z_V C_V)^2),  S_P = sum f_i + N(0, (z_P C_P)^2),  and the rules' counts.

One example moves each sum by 1/z_V and 1/z_P of its noise. With 1/z_V^2 + 1/z_P^2 + counts = 1/z^2
a step is one Poisson-subsampled Gaussian of multiplier z. The estimate (H^T S_V + S_P) / B, the
bounds and later bases are post-processing. Relatives: GEP (Yu et al. 2021, arXiv 2102.12677) and
quantile clipping (Andrew et al. 2021, arXiv 1905.03871).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor

from dpfl import clippings
from dpfl.contracts.bounds import bounded
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release
from dpfl.decomposition.basis import SOURCES
from dpfl.decomposition.noise_split import split
from dpfl.draws.gaussian import noisy_sum
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Step
from dpfl.mechanisms import dpsgd
from dpfl.privacy.release import remaining

CLIPPING_RULES = ("fixed", "quantile")
SETTINGS = {
    "rank": "whole >= 0",
    "basis": "one of noise-images, public, random",
    "basis_examples": "whole >= 1",
    "basis_every": "whole >= 1",
}
COST = (1.3, 8.0e-3, 3.0e-5)
MEMORY = {"rank": 32}
NEEDS_PUBLIC = {"basis": "public"}
BLIND = ("the sum S_V: canaries have no part in the basis",)

# Of |g|^2, added to |f|^2 = |g|^2 - |v|^2. In float32 the difference may come out too small, by
# 1e-5 of |g|^2 at most where it was looked for; too large, it only clips f a little more.
_ROUNDING = 1e-3


class Basis:
    """The orthonormal rows H [k, D], made anew at the start of a round and every `every` steps."""

    def __init__(self, make: Callable[[Step], Tensor], every: int):
        self._make, self._every = make, every
        self.rows: Tensor | None = None

    def at(self, step: Step) -> Tensor:
        """Return the rows for a step."""
        if self.rows is None or step.number % self._every == 0:
            self.rows = self._make(step)
        return self.rows

    def forget(self) -> None:
        """Drop the rows, which the next round begins with new ones of."""
        self.rows = None


@dataclass(frozen=True)
class Sums:
    """S_V and S_P, each with a clipping rule of its own: all that is released of a batch."""

    clippings: tuple[ClippingRule, ClippingRule]
    basis: Basis

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return the two sums as the one Gaussian that they are together, and the counts."""
        counts = self._counts(noise_multiplier, expected_batch)
        return Release((remaining(noise_multiplier, counts), *counts))

    def estimate(self, step: Step) -> Tensor:
        """Return S_V / B and S_P / B, flat [k + D]; an empty batch releases the noise alone.

        In float64, so that the sums can be had back to the bit.
        """
        z, expected = step.noise_multiplier, step.expected_batch
        gradients, norms = step.gradients()
        basis = self.basis.at(step)
        v = gradients.inner(basis)
        v_norms = v.norm(dim=1)
        squares = norms.square()
        f_norms = (squares - v_norms.square() + _ROUNDING * squares).clamp(min=0).sqrt()
        own = (v_norms, f_norms)
        bounds = [rule.bound(n, norms) for rule, n in zip(self.clippings, own, strict=True)]
        weights = [(c / n).clamp(max=1) for c, n in zip(bounds, own, strict=True)]
        sizes = (len(basis), basis.shape[1] - len(basis))  # S_P is projected off the basis
        z_v, z_p = split(remaining(z, self._counts(z, expected)), bounds, sizes)
        # In float64, where rows without a part in V leave no trace in a sum's last digits.
        sums = [(w.double() @ v.double()).to(v) for w in weights]

        s_p = joined(gradients.weighted_sum(weights[1]))
        in_span = s_p[: basis.shape[1]]  # all of it but what an audit has appended
        in_span.sub_(sums[1] @ basis)
        s_p = noisy_sum(s_p, step.normal(len(s_p)), z_p * bounds[1]).to(v)
        s_v = noisy_sum(sums[0], step.normal(len(basis)), z_v * bounds[0]).to(v)
        clippings.move(self.clippings, own, bounds, step)
        return torch.cat([s_v, s_p]).double().div_(expected)

    def _counts(self, noise_multiplier: float, expected_batch: float) -> list[float]:
        return [rule.count_multiplier(noise_multiplier, expected_batch) for rule in self.clippings]


@dataclass(frozen=True)
class Certified:
    """H^T S_V + S_P off the basis: what is made of the two sums, and of public rows."""

    inner: Sums
    basis: Basis

    @property
    def clippings(self) -> tuple[ClippingRule, ClippingRule]:
        """Return the rules whose states a checkpoint keeps."""
        return self.inner.clippings

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return what the two sums release."""
        return self.inner.release(noise_multiplier, expected_batch)

    def estimate(self, step: Step) -> Tensor:
        """Return the noisy mean gradient, flat [D]."""
        sums = self.inner.estimate(step).mul_(step.expected_batch)
        basis = self.basis.rows
        s_v, s_p = (part.to(basis.dtype, copy=True) for part in sums.tensor_split([len(basis)]))
        in_span = s_p[: basis.shape[1]]
        in_span.add_((s_v - in_span @ basis.t()) @ basis)
        return s_p.div_(step.expected_batch)

    def forget(self) -> None:
        """Drop the basis."""
        self.basis.forget()


@bounded(SETTINGS)
def build(
    clipping: dict,
    rank: int = 50,
    basis: str = "noise-images",
    basis_examples: int = 500,
    basis_every: int = 10,
) -> Certified | dpsgd.DPSGD:
    """Build the estimator; rank 0 takes nothing apart and is DP-SGD.

    C_V and C_P start at clip_norm / sqrt(2), so that the whole gradient's bound is clip_norm.
    Of `noise-images` there are at least `rank`, to span as many directions.
    UserError for a setting out of bounds.
    """
    if rank == 0:
        return dpsgd.build(clipping)
    half = {**clipping, "clip_norm": clipping["clip_norm"] / math.sqrt(2)}
    make = partial(SOURCES[basis], rank=rank, examples=max(basis_examples, rank))
    made = Basis(make, basis_every)
    return Certified(Sums((clippings.build(half), clippings.build(half)), made), made)
