"""The two outcomes of a cell: how many of its runs trained, and how accurate those are.

A run fails if its loss was not finite, or if its accuracy never left chance level at any round.
Where no curve is kept, its last accuracy tells. Nothing else makes a failure: seeds may spread.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from dpfl.seeds import verdicts


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


def trained(highest: Sequence[float], level: float) -> np.ndarray:
    """Tell of runs whether they trained, by their highest accuracies; `level` is that of chance.

    What is not finite did not train.
    """
    values = np.asarray(highest, dtype=float)
    return np.isfinite(values) & (values > level)


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
