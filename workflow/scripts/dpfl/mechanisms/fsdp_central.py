"""fsdp-central: one noise draw a batch on the sums of V and of Phi, H not noised. No proof.

This reading of FSDP (Zhou and Qian 2022, doi 10.11999/JEIT210276, tables 1 and 2) trains as well as
printed. As H = mix G, the noisy sum is one weighted sum of gradients:

    sum_i g_i + (z C_V n_V) H + z C_Phi n_Phi,    weights 1 + (z C_V n_V) mix,    all over B.
"""

from dataclasses import dataclass

import torch

from dpfl import clippings
from dpfl.contracts.bounds import bounded
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Unproven
from dpfl.decomposition import fsdp
from dpfl.gradients.flat import joined
from dpfl.gradients.step import Step
from dpfl.relevance import noise_scale
from dpfl.relevance.noise_scale import Relevance, switched

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
SETTINGS = {
    "rank": "whole >= 1",
    "solver": "one of gram, funk",
    "relevance": "switch",
}
COST = 1.5
NEEDS_PUBLIC = {"relevance": True}


@dataclass(frozen=True)
class Central:
    """The thresholds scale the noise; nothing is clipped."""

    decomposition: fsdp.Settings
    clippings: tuple[ClippingRule, ClippingRule]
    relevance: Relevance | None

    def release(self, noise_multiplier: float, expected_batch: float) -> Unproven:
        """Return why there is no proof."""
        reasons = (fsdp.UNCLIPPED, fsdp.ROW_SPACE, fsdp.TWO_AS_ONE)
        relevant = noise_scale.UNPROVEN if self.relevance else ()
        return Unproven((*reasons, *relevant))

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the noisy mean gradient, flat [D]."""
        z = step.noise_multiplier
        gradients, norms = step.gradients()
        parts = fsdp.decompose(gradients, self.decomposition)
        bounds = [
            rule.bound(own, norms)
            for rule, own in zip(self.clippings, (parts.v_norms, parts.phi_norms), strict=True)
        ]
        noise = step.normal(parts.v.shape[1]).to(parts.mix) * (z * bounds[0])
        total = joined(gradients.weighted_sum(1 + noise @ parts.mix))
        noise = step.normal(total.numel()).to(total)
        if self.relevance:
            noise = noise * self.relevance.noise_scale(step)
        total.add_(noise, alpha=z * bounds[1])
        clippings.move(self.clippings, (parts.v_norms, parts.phi_norms), bounds, step)
        return total.div_(step.expected_batch)


@bounded(SETTINGS)
def build(clipping: dict, rank: int = 50, solver: str = "gram", relevance: bool = False) -> Central:
    """Build the estimator: a rule for V and one for Phi, both of the method's clipping settings."""
    return Central(
        fsdp.Settings(rank, solver),
        (clippings.build(clipping), clippings.build(clipping)),
        switched(relevance),
    )
