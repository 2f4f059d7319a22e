"""Random draws behind the guarantee, noise and batches: from a seed, or from a secret."""

import hashlib
import itertools
from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch

from dpfl.draws import streams

Normal = Callable[[int], torch.Tensor]
"""Draws a vector of that many independent standard normals, in float64."""


def none(size: int) -> torch.Tensor:
    """Return no noise [size]."""
    return torch.zeros(size, dtype=torch.float64)


class Draws(Protocol):
    """Independent draws in float64, of 53 bits: float32 is too coarse (dpfl.draws.gaussian)."""

    def uniform(self, size: int) -> np.ndarray: ...  # in [0, 1)
    def normal(self, size: int) -> torch.Tensor: ...


class Seeded:
    """The stream of a key: repeatable, and whoever knows the key can regenerate it.

    Every call of normal() has a stream of its own, numbered from 0. So what is drawn later in a
    step does not depend on the sizes drawn before. A longer vector begins with the numbers of a
    shorter one. Uniforms come from the stream of the key itself.
    """

    def __init__(self, *key: streams.Key):
        self._key, self._calls = key, itertools.count()
        self._rng = streams.rng(*key)

    def uniform(self, size: int) -> np.ndarray:
        """Return uniforms [size]."""
        return self._rng.random(size)

    def normal(self, size: int) -> torch.Tensor:
        """Return standard normals [size], in float64."""
        rng = streams.rng(*self._key, "normal", next(self._calls))
        return torch.from_numpy(rng.standard_normal(size))


class Secure:
    """The stream of a secret key, by SHAKE-256 (FIPS 202): for whoever lacks the key, fair coins.

    What makes it secret is the key: that of a run holds 256 bits of the system's entropy. Normals
    are those of Box and Muller (1958), computed in float64 from 53-bit uniforms. Calls have streams
    of their own, as those of Seeded.
    """

    def __init__(self, *key: streams.Key):
        self._key, self._calls, self._uniforms = key, itertools.count(), itertools.count()

    def uniform(self, size: int) -> np.ndarray:
        """Return uniforms [size]."""
        return self._words(f"uniform {next(self._uniforms)}", size) * 2.0**-53

    def normal(self, size: int) -> torch.Tensor:
        """Return standard normals [size], in float64."""
        call, pairs = next(self._calls), (size + 1) // 2
        radius = np.sqrt(-2 * np.log((self._words(f"radius {call}", pairs) + 0.5) * 2.0**-53))
        angle = 2 * np.pi * (self._words(f"angle {call}", pairs) * 2.0**-53)
        draws = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
        return torch.from_numpy(draws.reshape(-1)[:size])

    def _words(self, purpose: str, size: int) -> np.ndarray:
        """Return integers [size] of 53 bits."""
        found = hashlib.shake_256(repr((*self._key, purpose)).encode()).digest(8 * size)
        return np.frombuffer(found, np.uint64) >> np.uint64(11)


SOURCES: dict[str, type[Draws]] = {"seeded": Seeded, "secure": Secure}
