"""Runs of two sides paired by seed: the same seed has the same data, weights and batches."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.seeds import outcomes

ZERO = 9
"""Decimals of a difference, in points: beyond them is what floating point makes of nothing."""


def by_seed(runs: pd.DataFrame, value: str = "accuracy") -> pd.DataFrame:
    """Return the values of one cell per epsilon: a row per seed, a column per epsilon.

    UserError for a value that is not finite, and for two runs of one seed at one epsilon.
    """
    broken = runs.loc[~np.isfinite(runs[value].astype(float)), "run"]
    if len(broken):
        raise UserError(f"run {broken.iloc[0]} has no finite {value}")
    double = runs[runs.duplicated(["seed", "epsilon"])]
    if len(double):
        row = double.iloc[0]
        where = f"seed {row['seed']}, epsilon {row['epsilon']:g}"
        raise UserError(f"two runs of {row['method']} at {where} ({row['run']}), expected one")
    return runs.pivot(index="seed", columns="epsilon", values=value)


def differences(
    better: pd.DataFrame, worse: pd.DataFrame, epsilons: Sequence[float], value: str = "accuracy"
) -> np.ndarray:
    """Return one difference per seed, better - worse, the mean over some epsilons.

    Only seeds count whose runs trained at every one of these epsilons on both sides; none without
    epsilons.
    """
    sides = map(outcomes.of_trained, (better, worse))
    ours, theirs = (by_seed(side, value).reindex(columns=epsilons) for side in sides)
    gaps = (ours - theirs).dropna()
    return gaps.mean(axis=1).round(ZERO).to_numpy() if len(epsilons) else np.array([])


def shared(better: pd.DataFrame, worse: pd.DataFrame) -> list[float]:
    """Return the finite epsilons of both sides: without a budget there is no equal budget."""
    return sorted(e for e in set(better["epsilon"]) & set(worse["epsilon"]) if np.isfinite(e))
