"""fsdp-literal: tables 1 and 2 of FSDP exactly as printed. No proof, and it trains slowly.

Zhou and Qian 2022 (doi 10.11999/JEIT210276). The noise of table 1 is absolute, N(0, sigma^2). So
thresholds are mostly the length of noise in many dimensions. Table 2 scales noise by them.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from dpfl import clippings
from dpfl.clippings.fsdp_adaptive import inliers
from dpfl.contracts.bounds import bounded
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Unproven
from dpfl.decomposition import fsdp
from dpfl.gradients.step import Step
from dpfl.relevance.noise_scale import Relevance, switched

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
SETTINGS = {
    "rank": "whole >= 1",
    "solver": "one of gram, funk",
    "reading": "one of rows, matrix",
    "relevance": "switch",
}
COST = 13
MEMORY = {"batch": 24}
NEEDS_PUBLIC = {"relevance": True}
REFUSES = (({"reading": "matrix", "solver": "funk"}, "reading matrix takes solver gram alone"),)


@dataclass(frozen=True)
class Literal:
    """Thresholds from inliers with absolute noise, then noise for all, rebuilt and clipped."""

    decomposition: fsdp.Settings
    clippings: tuple[ClippingRule, ClippingRule, ClippingRule]
    relevance: Relevance | None

    def release(self, noise_multiplier: float, expected_batch: float) -> Unproven:
        """Return why there is no proof."""
        return fsdp.of_every_example(self.relevance)

    def estimate(self, step: Step) -> Tensor:
        """Return the mean of the noisy, then clipped, gradients, flat [D]; 0 for an empty batch."""
        z = step.noise_multiplier
        gradients, norms = step.gradients()
        rows, gram = gradients.rows(), gradients.gram()
        scale = self.relevance.noise_scale(step) if self.relevance else 1.0
        kept = inliers(norms)
        bounds = self._thresholds(step, rows[kept], gram[kept][:, kept])
        parts = fsdp.write(rows, gram, self.decomposition)
        _, _, rebuilt = fsdp.noisy(parts, step, z * bounds[0], z * bounds[1] * scale)
        return fsdp.clipped_mean(rebuilt, bounds[2], step)

    def _thresholds(self, step: Step, kept: Tensor, gram: Tensor) -> list[float]:
        """Return C_V, C_Phi and C_g (table 1), from the gradients [L', D] that are no outliers."""
        z = step.noise_multiplier
        vectors = fsdp.noisy(fsdp.write(kept, gram, self.decomposition), step, z, z)
        own = [fsdp.lengths(vector) for vector in vectors]
        alike = torch.ones(len(kept))  # outliers are out already
        bounds = [rule.bound(n, alike) for rule, n in zip(self.clippings, own, strict=True)]
        clippings.move(self.clippings, own, bounds, step)
        return bounds


@bounded(SETTINGS)
def build(
    clipping: dict,
    rank: int = 50,
    solver: str = "gram",
    reading: str = "rows",
    relevance: bool = False,
) -> Literal:
    """Build the estimator: rules for V, Phi and the rebuilt gradients, of the method's clipping."""
    rules = tuple(clippings.build(clipping) for _ in range(3))
    settings = fsdp.Settings(rank, solver, reading)
    return Literal(settings, rules, switched(relevance))
