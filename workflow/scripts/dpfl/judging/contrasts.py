"""Linear contrasts: how accuracy changes, seed by seed, over the ordered values of a setting."""

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.seeds import pairing


def change(values: np.ndarray) -> np.ndarray:
    """Return the fitted change from the first to the last of some values [..., L] -> [...].

    That is (L - 1) times the least-squares slope on the ranks 0 ... L - 1; of two values it is
    their difference.
    """
    ranks = np.arange(values.shape[-1]) - (values.shape[-1] - 1) / 2
    return (values.shape[-1] - 1) * (values @ ranks) / (ranks @ ranks)


def of_seeds(runs: pd.DataFrame, over: str, values: list[float], column: str) -> pd.Series:
    """Return one change per seed that has a run at every value of a setting, by seed.

    UserError for two runs of one seed at one value.
    """
    placed = runs.assign(**{over: pd.to_numeric(runs[over])})
    table = pairing.by_seed(placed, column, over).reindex(columns=values)
    complete = table.dropna() if len(values) > 1 else table[:0]
    changes = change(complete.to_numpy(dtype=float)) if len(complete) else []
    return pd.Series(changes, complete.index, dtype=float)


def of_curves(curves: pd.DataFrame, column: str) -> pd.Series:
    """Return one change per seed, by seed, over its run's rounds; nothing of one round each.

    A run that ends after its first round, where others go on, has not changed. UserError for two
    runs of one seed.
    """
    runs = curves[["seed", "cell", "run"]].drop_duplicates()
    for one in runs[runs.duplicated("seed")].to_dict("records"):
        raise UserError(f"two runs of seed {one['seed']} ({one['run']}), expected one")
    each = curves.sort_values("round").groupby("seed")[column]
    own = {seed: values.to_numpy() for seed, values in each}
    if max(map(len, own.values()), default=0) < 2:
        own = {}
    changes = {seed: change(v) if len(v) > 1 else 0.0 for seed, v in own.items()}
    return pd.Series(changes, dtype=float)
