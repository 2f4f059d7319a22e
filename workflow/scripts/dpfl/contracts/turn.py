"""What a way of drawing batches is asked: the batch of one step."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from dpfl.draws.noise import Draws


@dataclass(frozen=True)
class Turn:
    """The batch of a step, from 0 on: so many of a population, by draws that keys tell apart.

    `known` are those that were drawn beforehand and in public, for a cohort. `groups` is how many
    groups take turns, where the noise of a run has as many bands.
    """

    population: int
    size: int
    step: int
    draws: "Callable[..., Draws]"
    known: Sequence[int] = ()
    groups: int | None = None

    @property
    def batches(self) -> int:
        """Return how many whole batches an epoch has."""
        return self.population // self.size

    def order(self, *key: str | int) -> np.ndarray:
        """Return the population in the random order of a key."""
        return np.argsort(self.draws(*key).uniform(self.population), kind="stable")
