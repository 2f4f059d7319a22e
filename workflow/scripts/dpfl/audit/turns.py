"""Batches that are not drawn by Poisson: what is promised of them, and what was seen."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

NEVER = 2**40  # steps


@dataclass(frozen=True)
class Turns:
    """How a holder's batches are drawn, where that is not by Poisson, and what they cost.

    `price` takes a noise multiplier, how many steps there were, and how often one was drawn. It
    returns an epsilon that an attacker reaches. Two steps of an example are `gap` apart at least.
    It is drawn `often` times at most. Where that is None, each step draws from one of `groups`
    alone, which take turns, and everybody is as likely as the others.
    """

    price: Callable[[float, int, int], float]
    often: int | None
    gap: int = 1
    groups: int = 1


@dataclass
class Drawn:
    """Which examples of a population were drawn: how often, when last, and how far apart.

    `whole` is how often after the last step in which all groups have had their turn.
    """

    times: np.ndarray
    last: np.ndarray
    whole: np.ndarray
    gap: int

    @classmethod
    def none(cls, population: int) -> "Drawn":
        """Return the notes on a population of whom nobody was drawn."""
        never = np.full(population, -NEVER)
        return cls(np.zeros_like(never), never, np.zeros_like(never), NEVER)

    def add(self, chosen: np.ndarray, step: int, groups: int) -> None:
        """Note a step, from 0 on; who is in it twice has no step between."""
        np.add.at(self.times, chosen, 1)
        gaps = step - self.last[chosen]
        twice = len(chosen) > len(np.unique(chosen))
        self.gap = 0 if twice else min(self.gap, *gaps.tolist(), NEVER)
        self.last[chosen] = step
        if (step + 1) % groups == 0:
            self.whole = self.times.copy()
