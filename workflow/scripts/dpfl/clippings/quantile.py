"""quantile: C follows a quantile of the norms (Andrew et al. 2021, arXiv 1905.03871).

With every sum the rule releases a noisy count of the vectors within C, and moves C by

    b = (sum_i (1[|u_i| <= C] - 1/2) + N(0, s^2)) / B + 1/2,    C <- C exp(-rate (b - quantile)),

B the expected number of vectors. One vector moves the sum by C and the count by 1/2 at most. So the
count is a Gaussian of multiplier 2 s. With 1/z_sum^2 = 1/z^2 - 1/(2 s)^2 sum and count are one
Gaussian of multiplier z (their theorem 1).
"""

import math

from torch import Tensor

from dpfl.contracts.bounds import bounded
from dpfl.draws.noise import Normal

SETTINGS = {
    "clip_norm": "number in [1e-6, 1e6]",
    "quantile": "number in (0, 1)",
    "rate": "number > 0",
    "count_noise": "null or number > 0",
}

_LOWEST, _HIGHEST = 1e-6, 1e6  # of C, whatever the noise on a count makes of it
_COUNT_NOISE_PER_EXPECTED = 1 / 20  # their recommendation: b is then off by .05
_COUNT_NOISE_PER_MULTIPLIER = 2.3  # keeps z_sum within 2.5 % of z where few vectors are expected

# Votes are multiples of 1/2, on the grid already: rounding takes off the last digits of the noise,
# which depend on them (dpfl.draws.gaussian).
_GRID = 2.0**-10


class Quantile:
    """A bound C that moves after every release, towards the quantile of the norms.

    `count_noise` is the standard deviation s of the noise on the count; None stands for the larger
    of B/20 and 2.3 z.
    """

    unproven: tuple[str, ...] = ()

    def __init__(self, clip_norm: float, quantile: float, rate: float, count_noise: float | None):
        self.clip_norm = clip_norm
        self._quantile, self._rate, self._count_noise = quantile, rate, count_noise

    def bound(self, norms: Tensor, whole: Tensor) -> float:
        """Return C, which was fixed before these norms were seen."""
        return self.clip_norm

    def count_multiplier(self, noise_multiplier: float, expected: float) -> float:
        """Return 2 s: one vector moves the count by 1/2."""
        return 2 * self._noise_of_count(noise_multiplier, expected)

    def after(
        self, votes: float, *, noise_multiplier: float, expected: float, normal: Normal
    ) -> None:
        """Move C by the noisy share of the vectors within it."""
        noise = self._noise_of_count(noise_multiplier, expected) * float(normal(1))
        count = round((votes + noise) / _GRID) * _GRID
        share = count / expected + 0.5
        moved = math.log(self.clip_norm) - self._rate * (share - self._quantile)
        self.clip_norm = math.exp(min(max(moved, math.log(_LOWEST)), math.log(_HIGHEST)))

    def state(self) -> dict[str, float]:
        """Return the current bound, for a checkpoint."""
        return {"clip_norm": self.clip_norm}

    def restore(self, state: dict[str, float]) -> None:
        """Continue with the bound of a checkpoint."""
        self.clip_norm = state["clip_norm"]

    def _noise_of_count(self, noise_multiplier: float, expected: float) -> float:
        if self._count_noise is not None:
            return self._count_noise
        return max(
            _COUNT_NOISE_PER_EXPECTED * expected, _COUNT_NOISE_PER_MULTIPLIER * noise_multiplier
        )


@bounded(SETTINGS)
def build(
    clip_norm: float, quantile: float, rate: float = 0.2, count_noise: float | None = None
) -> Quantile:
    """Return the rule, which starts at `clip_norm`; UserError for a setting out of bounds.

    The rate is what Andrew et al. recommend for every task. Their quantile, the median, suits
    updates of clients. Of single gradients .8 to .9 must be kept whole for MNIST to train.
    """
    return Quantile(float(clip_norm), quantile, rate, count_noise)
