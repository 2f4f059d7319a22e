"""fsdp-published: noise for every example, scaled by the thresholds, clipping after it. No proof.

FSDP (Zhou and Qian 2022, doi 10.11999/JEIT210276) read with table 2's noise in table 1 as well.
Thresholds are means of norms without noise. Only C_g is the mean of the noisy rebuilt gradients.
"""

from dataclasses import dataclass

from torch import Tensor

from dpfl import clippings
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
COST = 8
MEMORY = {"batch": 16}
NEEDS_PUBLIC = {"relevance": True}
REFUSES = (({"reading": "matrix", "solver": "funk"}, "reading matrix takes solver gram alone"),)


@dataclass(frozen=True)
class Published:
    """sum_i gbar_i min(1, C_g / |gbar_i|) / B with gbar = (V + z C_V n) H + Phi + z C_Phi n."""

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
        parts = fsdp.write(gradients.rows(), gradients.gram(), self.decomposition)
        scale = self.relevance.noise_scale(step) if self.relevance else 1.0
        own = [fsdp.lengths(parts.v), fsdp.lengths(parts.phi)]
        bounds = [rule.bound(n, norms) for rule, n in zip(self.clippings[:2], own, strict=True)]
        _, _, rebuilt = fsdp.noisy(parts, step, z * bounds[0], z * bounds[1] * scale)
        own.append(fsdp.lengths(rebuilt))
        bounds.append(self.clippings[2].bound(own[2], norms))
        clippings.move(self.clippings, own, bounds, step)
        return fsdp.clipped_mean(rebuilt, bounds[2], step)


@bounded(SETTINGS)
def build(
    clipping: dict,
    rank: int = 50,
    solver: str = "gram",
    reading: str = "rows",
    relevance: bool = False,
) -> Published:
    """Build the estimator: rules for V, Phi and the rebuilt gradients, of the method's clipping."""
    rules = tuple(clippings.build(clipping) for _ in range(3))
    settings = fsdp.Settings(rank, solver, reading)
    return Published(settings, rules, switched(relevance))
