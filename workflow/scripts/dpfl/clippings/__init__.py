"""Clipping rules, one per file: the bound C of a clipped sum, and how it moves.

A file offers `build(clip_norm, **settings)`, which returns a dpfl.contracts.protocols.ClippingRule.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpfl import plugins
from dpfl.contracts.protocols import ClippingRule

if TYPE_CHECKING:
    from torch import Tensor

    from dpfl.gradients.step import Step


def build(settings: dict[str, Any]) -> ClippingRule:
    """Build the rule of a method's clipping settings.

    `around` is no setting of a user. It takes every rule that is built and returns one in its
    place. So an audit stands between a mechanism and its rules.
    """
    own = dict(settings)
    around = own.pop("around", lambda rule: rule)
    return around(plugins.load("clippings", own.pop("rule")).build(**own))


def move(
    rules: Sequence[ClippingRule], norms: Sequence["Tensor"], bounds: Sequence[float], step: "Step"
) -> None:
    """Let every clipping rule follow the norms [L] that it has bounded."""
    for rule, own, bound in zip(rules, norms, bounds, strict=True):
        rule.after(
            float((own <= bound).sum()) - len(own) / 2,
            noise_multiplier=step.noise_multiplier,
            expected=step.expected_batch,
            normal=step.normal,
        )
