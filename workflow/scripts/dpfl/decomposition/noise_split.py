"""How the noise of one step is divided among several sums of the same batch.

A sum of vectors clipped to C_j, of d_j coordinates, gets noise of energy (z_j C_j)^2 d_j. Under the
joint cost sum 1/z_j^2 = 1/z^2 the total is least for 1/z_j^2 in proportion to C_j sqrt(d_j).
"""

import math
from collections.abc import Sequence


def split(
    noise_multiplier: float, clip_norms: Sequence[float], sizes: Sequence[int]
) -> list[float]:
    """Return z_j of every sum, all of them together of multiplier z; infinite for an empty one."""
    extents = [c * math.sqrt(d) for c, d in zip(clip_norms, sizes, strict=True)]
    total = sum(extents)
    return [noise_multiplier * math.sqrt(total / e) if e else math.inf for e in extents]
