"""fixed: the same bound C throughout (Abadi et al. 2016; McMahan et al. 2018)."""

import math
from dataclasses import dataclass

from torch import Tensor

from dpfl.contracts.bounds import bounded
from dpfl.draws.noise import Normal

SETTINGS = {"clip_norm": "number > 0"}


@dataclass(frozen=True)
class Fixed:
    """A bound that never moves: the sum is all there is to release."""

    clip_norm: float
    unproven: tuple[str, ...] = ()

    def bound(self, norms: Tensor, whole: Tensor) -> float:
        """Return C, whatever the norms."""
        return self.clip_norm

    def count_multiplier(self, noise_multiplier: float, expected: float) -> float:
        """Return infinity: nothing is counted."""
        return math.inf

    def after(
        self, votes: float, *, noise_multiplier: float, expected: float, normal: Normal
    ) -> None:
        """Nothing is counted, nothing moves."""

    def state(self) -> dict[str, float]:
        """Return nothing to remember."""
        return {}

    def restore(self, state: dict[str, float]) -> None:
        """Nothing to continue from."""


@bounded(SETTINGS)
def build(clip_norm: float) -> Fixed:
    """Return the rule; UserError unless clip_norm is finite and above 0."""
    return Fixed(float(clip_norm))
