"""Standard normal draws for the privacy noise: repeatable from a seed, or from system entropy."""

import math
import os
from collections.abc import Callable

import torch

from dpfl import streams

Normal = Callable[[int], torch.Tensor]
"""Draws a vector of that many independent standard normals."""


def seeded(*key: streams.Key, device: str = "cpu") -> Normal:
    """Draw from the stream of a key: whoever knows the key can regenerate the noise."""
    generator = streams.generator(*key, device=device)
    return lambda size: torch.randn(size, generator=generator, device=device)


def secure(*_key: streams.Key, device: str = "cpu") -> Normal:
    """Draw from the operating system's entropy by Box and Muller (1958), not repeatable.

    Computed in float64 from 53-bit uniforms. Like every floating-point Gaussian it is not an
    ideal one; the certificate names that assumption.
    """

    def normal(size: int) -> torch.Tensor:
        pairs = (size + 1) // 2
        words = torch.frombuffer(bytearray(os.urandom(16 * pairs)), dtype=torch.int64)
        uniforms = ((words >> 11) & ((1 << 53) - 1)).double().add_(0.5).mul_(2.0**-53)
        radius = uniforms[:pairs].log().mul_(-2).sqrt_()
        angle = uniforms[pairs:].mul(2 * math.pi)
        draws = torch.cat([radius * angle.cos(), radius * angle.sin()])[:size]
        return draws.to(device, torch.float32)

    return normal


SOURCES: dict[str, Callable[..., Normal]] = {"seeded": seeded, "secure": secure}
