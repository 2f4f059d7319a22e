"""The two outcomes of a cell: how many of its runs trained, and how accurate those are.

A run fails if its loss was not finite, or if it ended at chance level. It also fails if it is more
than FAR points under the cell's median. Failures must not take that median. Of three runs at 90.7,
55.7 and 11.4 % the plain one is a failure itself. So it is the median of the better half of the
runs above chance. Of these, up to three in four may fail. Of five or more above chance, one run may
be better than all others, by whatever. It does not make failures of them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from dpfl.seeds import verdicts

FAR = 5.0
"""Points under the median: far beyond what seeds do to runs that train."""
_ROUNDING = 1e-9  # of examples to percent


@dataclass(frozen=True)
class Outcome:
    """k of n runs trained, with the 95 % interval of their share; accuracy is that of the k.

    `mean` is theirs too, and that of all runs where none trained: then it has no interval.
    """

    n: int
    trained: int
    low: float
    high: float
    accuracy: verdicts.Interval
    mean: float

    @property
    def half(self) -> float:
        """Return half the width of the interval, nan without one."""
        return self.accuracy.high - self.mean


def trained(accuracies: Sequence[float], level: float) -> np.ndarray:
    """Tell for each run of a cell whether it trained; `level` is the accuracy of chance.

    What is not finite did not train.
    """
    values = np.asarray(accuracies, dtype=float)
    above = np.isfinite(values) & (values > level)
    best_first = np.sort(values[above])[::-1]
    half = best_first[: math.ceil(len(best_first) / 2)]
    return above & (values >= np.median(half) - FAR - _ROUNDING) if len(half) else above


def outcome(runs: pd.DataFrame, column: str = "accuracy") -> Outcome:
    """Return the outcome of the runs of one cell, which are marked in `trained`."""
    n, accuracy = len(runs), measured(runs, column)
    mean = accuracy.mean if accuracy.n else float(runs[column].mean())
    return Outcome(n, accuracy.n, *share(accuracy.n, n), accuracy, mean)


def measured(runs: pd.DataFrame, column: str = "accuracy") -> verdicts.Interval:
    """Return the interval of the runs that trained."""
    return verdicts.interval(of_trained(runs)[column])


def of_trained(runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs that trained."""
    return runs[runs["trained"].astype(bool)] if len(runs) else runs


def share(k: int, n: int) -> tuple[float, float]:
    """Return the 95 % interval of a share, k of n, as fractions (Clopper and Pearson 1934)."""
    tail = (1 - verdicts.LEVEL) / 2
    low = special.betaincinv(k, n - k + 1, tail) if k else 0.0
    high = special.betaincinv(k + 1, n - k, 1 - tail) if k < n else 1.0
    return float(low), float(high)
