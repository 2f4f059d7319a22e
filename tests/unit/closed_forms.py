"""Written down apart from the library: what a Gaussian costs, exactly, and the level of a look."""

import math

from scipy.optimize import brentq
from scipy.special import ndtr

LOOK = 0.9805
"""The level of a look: Pocock's bound for three, .0195 two-sided."""
COST = 0.05 / 0.0195
"""What a p is multiplied by for the looks, so that 5 % decides."""


def gaussian_delta(eps: float, mu: float) -> float:
    """Balle and Wang 2018, theorem 8: the delta of a Gaussian whose mean moves by mu."""
    return ndtr(mu / 2 - eps / mu) - math.exp(eps) * ndtr(-mu / 2 - eps / mu)


def sampled_delta(eps: float, mu: float, q: float) -> float:
    """The delta of one Poisson-sampled Gaussian: advanced joint convexity, with equality."""
    return q * gaussian_delta(math.log1p(math.expm1(eps) / q), mu)


def gaussian_epsilon(mu: float, delta: float, q: float = 1.0) -> float:
    """The epsilon at which one Gaussian, sampled at rate q, has this delta."""
    return brentq(lambda eps: sampled_delta(eps, mu, q) - delta, 0, 50)
