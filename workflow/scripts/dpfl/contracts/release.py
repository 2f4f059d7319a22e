"""What one step releases of its batch, as a value: Gaussians with a proof, or the missing ones."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Release:
    """Gaussian releases: each one's standard deviation over how far one example moves its mean."""

    multipliers: tuple[float, ...]

    @property
    def noise_multiplier(self) -> float:
        """Return the multiplier z of all of them together."""
        return joint(self.multipliers)


@dataclass(frozen=True)
class Unproven:
    """A release that no accountant can price: the conditions it violates, each by name.

    `gaussian` says that every step is one Gaussian all the same, of less noise than is charged.
    """

    reasons: tuple[str, ...]
    gaussian: bool = False


def joint(multipliers: Iterable[float]) -> float:
    """Return z of several Gaussians, 1/z^2 = sum 1/z_j^2; one of infinite noise adds nothing."""
    multipliers = list(multipliers)
    if 0 in multipliers:
        return 0.0
    precision = sum(z**-2 for z in multipliers)
    return precision**-0.5 if precision else math.inf


@dataclass(frozen=True)
class PublicNoise:
    """What is public about the noise of a step's mean gradient, where it is z C / B everywhere.

    Without privacy z is 0 and C infinite. An optimizer that offers `tell_noise(noise)` gets it
    before every step: see tell_noise.
    """

    noise_multiplier: float
    clip_norm: float
    expected_batch: float

    @property
    def standard_deviation(self) -> float:
        """Return z C / B, that of every coordinate."""
        z = self.noise_multiplier
        return z * self.clip_norm / self.expected_batch if z else 0.0
