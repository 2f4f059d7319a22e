"""Poisson sampling: of examples into a batch, of clients into a round, of canaries beside them."""

import numpy as np

from dpfl.audit.canaries import Canaries
from dpfl.draws.noise import Draws


def poisson(
    draws: Draws, population: int, sample_rate: float, canaries: Canaries | None
) -> np.ndarray:
    """Return who is drawn of a population, each with the sample rate; so are canaries."""
    records = canaries.records if canaries else 0
    drawn = draws.uniform(population + records) < sample_rate
    chosen = np.flatnonzero(drawn[:population])
    if canaries:
        canaries.draw(drawn[population:], len(chosen), population, sample_rate)
    return chosen
