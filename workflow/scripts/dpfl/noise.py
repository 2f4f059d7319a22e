"""Standard normal draws for the privacy noise: repeatable from a seed, or from system entropy."""

import os
from collections.abc import Callable

import numpy as np
import torch

from dpfl import streams

Normal = Callable[[int], torch.Tensor]
"""Draws a vector of that many independent standard normals."""


def seeded(*key: streams.Key, device: str = "cpu") -> Normal:
    """Draw from the stream of a key: whoever knows the key can regenerate the noise."""
    rng = streams.rng(*key)
    return lambda size: torch.from_numpy(rng.standard_normal(size, np.float32)).to(device)


def secure(*_key: streams.Key, device: str = "cpu") -> Normal:
    """Draw from the operating system's entropy by Box and Muller (1958), not repeatable.

    Computed in float64 from 53-bit uniforms. Like every floating-point Gaussian it is not an
    ideal one; the certificate names that assumption.
    """

    def normal(size: int) -> torch.Tensor:
        pairs = (size + 1) // 2
        words = np.frombuffer(os.urandom(16 * pairs), np.uint64) >> 11
        uniforms = (words + 0.5) * 2.0**-53
        radius, angle = np.sqrt(-2 * np.log(uniforms[:pairs])), 2 * np.pi * uniforms[pairs:]
        draws = np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:size]
        return torch.from_numpy(draws).to(device, torch.float32)

    return normal


SOURCES: dict[str, Callable[..., Normal]] = {"seeded": seeded, "secure": secure}
