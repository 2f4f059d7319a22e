"""Clipping rules, one per file: the bound C of a clipped sum, and how it moves.

A file offers `build(clip_norm, **settings)`, which returns an object with

    clip_norm: the bound C of the next release,
    unproven: why nothing can be certified with this rule; () for a rule with a proof,
    bound(norms, whole) -> C for vectors of these norms [L], given those [L] of the whole gradients
        that they are part of (the same, if nothing is taken apart),
    count_multiplier(z, expected) -> multiplier of the noise on what the rule releases beside the
        sum, if the step as a whole has multiplier z; infinite for a rule that releases nothing,
    after(votes, *, noise_multiplier, expected, normal): move C for the next release, and
    state(), restore(state): what a checkpoint keeps of it; {} for a C that never moves.

Votes are the sum of 1[norm <= C] - 1/2 over the clipped vectors, `expected` their expected number.
"""

from typing import Any

from dpfl import plugins


def build(settings: dict[str, Any]) -> Any:
    """Build the rule of a method's clipping settings."""
    own = dict(settings)
    return plugins.load("clippings", own.pop("rule")).build(**own)
