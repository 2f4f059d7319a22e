"""Random streams: every draw comes from a named key, none from global state.

A key is a tuple of names and numbers, such as (dataset, partition, seed, "poisson", client, step).
Methods and studies never enter a key, so that runs of the same seed pair across methods.
"""

import hashlib
import json
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

Key = str | int | float


def seed_of(*key: Key) -> int:
    """Return the 128-bit seed of a key (SHA-256, so that neighbouring keys are unrelated)."""
    return int.from_bytes(hashlib.sha256(repr(key).encode()).digest()[:16], "big")


def rng(*key: Key) -> np.random.Generator:
    """Return the numpy generator of a key, which takes all 128 bits of its seed."""
    return np.random.Generator(np.random.SFC64(seed_of(*key)))


def generator(*key: Key) -> "torch.Generator":
    """Return the torch generator of a key, for initial weights alone.

    On a CPU torch takes 32 bits of a seed. Among the steps of one run two would likely share their
    noise. Anyone could try all seeds.
    """
    import torch  # two CPU seconds that jobs without tensors need not pay

    return torch.Generator().manual_seed(seed_of(*key) % 2**63)


def pairing_key(settings: dict) -> tuple[Key, ...]:
    """Return the key that all runs of one dataset, partition and seed share.

    It names neither method nor epsilon nor study. So runs of one seed see the same clients, initial
    weights, participants and batches. Differences between methods are paired.
    """
    partition = json.dumps(settings["partition"], sort_keys=True)
    return (settings["dataset"], partition, settings["seed"])


_NOT_NOISE = ("audit", "evaluation_examples")


def noise_key(settings: dict) -> str:
    """Return the part of a run's noise key that no other run has: a digest of its settings.

    Two runs that share noise at two multipliers give away the sum: z_1 y_2 - z_2 y_1 has no noise.
    What only watches a run leaves its noise as it is. The data are no part of it: whoever changes
    them takes another seed.
    """
    own = {key: value for key, value in settings.items() if key not in _NOT_NOISE}
    return hashlib.sha256(json.dumps(own, sort_keys=True).encode()).hexdigest()
