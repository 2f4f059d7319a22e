"""How values of hyper-parameters are chosen: rules are files here, in fixed stages of trials.

A rule is pure: values tried and their validation accuracies say what is tried next, and what is
chosen. The number of trials never depends on what came out, so that it is the same for every
method, and that the workflow knows all of its jobs before the first one.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from dpfl import plugins

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


def stages(rule: str, over: Sequence[str]) -> list[Stage]:
    """Return what follows the grid where a rule tunes these settings."""
    return [
        Stage(declared["slots"], declared.get("more_seeds", 0), key)
        for declared in plugins.constant("tuning", rule, "STAGES")
        for key in (over if declared.get("each_setting") else ("",))
    ]


def points(trials: Iterable[tuple[Values, Sequence[float]]]) -> list[Point]:
    """Return what was tried, once for equal values, with the accuracies of all their seeds."""
    found: dict[tuple[float, ...], Point] = {}
    for values, accuracies in trials:
        before = found.get(tuple(values.values()), Point(values, ()))
        found[before.order] = Point(values, (*before.accuracies, *accuracies))
    return list(found.values())


def best(tried: Sequence[Point]) -> int:
    """Return the index of the highest mean; of equal ones that of the lowest values."""
    ranked = sorted(range(len(tried)), key=lambda i: (-tried[i].mean, tried[i].order))
    return ranked[0]
