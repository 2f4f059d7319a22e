"""pdpsgd: DP-SGD projected on the gradients of public examples (arXiv 2007.03813).

Zhou, Wu and Banerjee 2021, algorithm 1. U_k are the top eigenvectors of (1/m) sum g g^T over m
public examples at the current weights. The noisy gradient becomes U_k U_k^T of itself. That is
post-processing of DP-SGD with public data: it costs nothing.
"""

from dataclasses import dataclass

import torch

from dpfl.contracts.bounds import bounded
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release
from dpfl.decomposition.factors import gram
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Step
from dpfl.mechanisms import dpsgd

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
SETTINGS = {"rank": "whole >= 1"}
COST = 1.7
NEEDS_PUBLIC = True
BLIND = ("the projection, which is post-processing: canaries are watched before it",)


@dataclass(frozen=True)
class ProjectedDPSGD:
    """U_k U_k^T of DP-SGD's estimate, with U_k^T = mix G: two products with public gradients."""

    inner: dpsgd.DPSGD
    rank: int

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rules whose states a checkpoint keeps."""
        return self.inner.clippings

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return what DP-SGD releases."""
        return self.inner.release(noise_multiplier, expected_batch)

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the projected noisy mean gradient, flat [D]."""
        noisy = self.inner.estimate(step)
        public, _ = step.public_gradients()
        mix = gram(public.gram(), self.rank).mix
        coefficients = mix @ public.inner(noisy.unsqueeze(0)).squeeze(1)
        return joined(public.weighted_sum(coefficients @ mix))


@bounded(SETTINGS)
def build(clipping: dict, rank: int = 50) -> ProjectedDPSGD:
    """Build the estimator; UserError for a rank that is no whole number above 0."""
    return ProjectedDPSGD(dpsgd.build(clipping), rank)
