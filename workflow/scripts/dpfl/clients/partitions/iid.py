"""Independent of the labels: sizes are equal up to one example."""

import numpy as np


def assign(targets: np.ndarray, clients: int, rng: np.random.Generator) -> np.ndarray:
    """Return a client for every example, uniformly at random among the equal divisions."""
    return rng.permutation(np.arange(len(targets)) % clients)
