"""What a rule of tuning is given and answers: points that were tried, and stages of trials."""

import math
from dataclasses import dataclass
from statistics import fmean, stdev

Values = dict[str, float]
"""A number for each setting that is tuned."""


@dataclass(frozen=True)
class Point:
    """Values that were tried, with the validation accuracy of every seed."""

    values: Values
    accuracies: tuple[float, ...]

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return fmean(self.accuracies)

    @property
    def error(self) -> float:
        """The standard error of the mean; 0 for one seed, of which nothing is known."""
        n = len(self.accuracies)
        return stdev(self.accuracies) / math.sqrt(n) if n > 1 else 0.0

    @property
    def order(self) -> tuple[float, ...]:
        """What points are sorted by, from low to high."""
        return tuple(self.values.values())


@dataclass(frozen=True)
class Stage:
    """Trials that wait for all before them: so many slots, each tried with the same seeds."""

    slots: int
    more_seeds: int = 0
    """New seeds of every slot; 0 for those of the grid."""
    along: str = ""
    """The setting whose values it proposes, if it is one."""
