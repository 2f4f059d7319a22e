"""Clipping rules, one per file: the bound C of a clipped sum, and how it moves.

A file offers `build(clip_norm, **settings)`, which returns an object with

    clip_norm: the bound C of the next release,
    noise_multiplier_of_sum(z, expected) -> multiplier of the noise on the sum, with which the sum
        and whatever else the rule releases are together one Gaussian of multiplier z,
    after(votes, *, noise_multiplier, expected, normal): move C for the next release, and
    state(), restore(state): what a checkpoint keeps of it; {} for a C that never moves.

Votes are the sum of 1[norm <= C] - 1/2 over the clipped vectors, `expected` their expected number.
"""
