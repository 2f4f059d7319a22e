"""fsdp-central: one noise draw a batch on the sums of V and of Phi, H not noised. No proof.

The reading of FSDP (Zhou and Qian 2022, doi 10.11999/JEIT210276, tables 1 and 2) that trains as
well as the paper says. Since H = mix G, the noisy sum is one weighted sum of gradients:

    sum_i g_i + (z C_V n_V) H + z C_Phi n_Phi,    weights 1 + (z C_V n_V) mix,    all over B.
"""

from dataclasses import dataclass
from typing import Any

import torch

from dpfl import clippings
from dpfl.flat import joined
from dpfl.mechanisms import _fsdp
from dpfl.mechanisms._relevance import Relevance, switched
from dpfl.privacy.release import Unproven
from dpfl.step import Step

CLIPPING_RULES = ("fixed", "quantile", "fsdp-adaptive")
COST = 1.5
NEEDS_PUBLIC = {"relevance": True}
REFUSES = (({"rank": 0}, "nothing would be taken apart"),)


@dataclass(frozen=True)
class Central:
    """The thresholds scale the noise; nothing is clipped."""

    decomposition: _fsdp.Settings
    clippings: tuple[Any, Any]
    relevance: Relevance | None

    def release(self, noise_multiplier: float, expected_batch: float) -> Unproven:
        """Return why there is no proof."""
        reasons = (_fsdp.UNCLIPPED, _fsdp.ROW_SPACE, _fsdp.TWO_AS_ONE)
        relevant = (_fsdp.RELEVANT,) if self.relevance else ()
        return Unproven((*reasons, *relevant))

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the noisy mean gradient, flat [D]."""
        z = step.noise_multiplier
        gradients, norms = step.gradients()
        parts = _fsdp.decompose(gradients, self.decomposition)
        bounds = [
            rule.bound(own, norms)
            for rule, own in zip(self.clippings, (parts.v_norms, parts.phi_norms), strict=True)
        ]
        noise = step.normal(parts.v.shape[1]).to(parts.mix) * (z * bounds[0])
        total = joined(gradients.weighted_sum(1 + noise @ parts.mix))
        noise = step.normal(total.numel()).to(total.device)
        if self.relevance:
            noise = noise * self.relevance.noise_scale(step)
        total.add_(noise, alpha=z * bounds[1])
        _fsdp.move(self.clippings, (parts.v_norms, parts.phi_norms), bounds, step)
        return total.div_(step.expected_batch)


def build(clipping: dict, rank: int = 50, solver: str = "gram", relevance: bool = False) -> Central:
    """Build the estimator: a rule for V and one for Phi, both of the method's clipping settings."""
    return Central(
        _fsdp.Settings(rank, solver),
        (clippings.build(clipping), clippings.build(clipping)),
        switched(relevance),
    )
