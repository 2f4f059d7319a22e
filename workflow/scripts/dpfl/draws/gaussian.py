"""How a private sum leaves: with Gaussian noise, on a grid that owes nothing to the data."""

import math

from torch import Tensor

GRID = 2.0**-20  # of the noise's standard deviation, rounded down to a power of two


def noisy_sum(total: Tensor, noise: Tensor, spread: float) -> Tensor:
    """Return total + spread * noise as multiples of a power of two, in float64 on total's device.

    `total` [n] is the clipped sum, `noise` [n] holds standard normals in float64, `spread` is the
    standard deviation z C. Without noise the sum is returned as it is.

    Sum and noise cannot add up to every floating-point number. Which ones they reach depends on the
    sum, so the last digits could tell it (Mironov 2012, doi 10.1145/2382196.2382264). Hence two
    rules. The addition is in float64, whose draws lie 2^29 times closer than the points of the
    grid. From any sum within reach every point is possible, about as likely as under an ideal
    Gaussian. And nothing finer than the grid leaves: only z and C determine it, both public. What
    is made of the points later (division, float32) is post-processing.

    This says nothing of the sum itself, which rounds in the precision of the gradients.
    """
    noisy = total.double().add(noise.to(total.device), alpha=spread)
    if not spread:
        return noisy
    grid = math.ldexp(GRID, math.frexp(spread)[1] - 1)
    return noisy.mul_(1 / grid).round_().mul_(grid)
