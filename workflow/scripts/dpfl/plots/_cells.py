"""The cells of a study as figures show them: mean and interval of what trained, seeds, printed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpfl.tables import cell_words, outcomes

LISTS = ("seeds", "printed")
"""Columns that hold several numbers."""


def of(study: dict, runs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return a row per cell: some columns of its runs, and what they reached, in percent.

    `mean`, `low`, `high` and `seeds` are those of the runs that trained, `mean` is nan without any.
    `runs` are those of `results.frame`; cells without a run have no row.
    """
    groups = runs.groupby("cell", sort=False)
    rows = [{key: own[key].iloc[0] for key in keys} | _one(study, own) for _, own in groups]
    return pd.DataFrame(rows)


def _one(study: dict, own: pd.DataFrame) -> dict[str, Any]:
    found, index = outcomes.of(own), int(own["cell"].iloc[0])
    printed = [number["value"] for number in study["cells"][index].get("published", [])]
    measured = found.accuracy
    return {
        "cell": index,
        "n": found.n,
        "trained": found.trained,
        "mean": found.mean if found.trained else np.nan,
        "low": np.nan if measured.low is None else measured.low,
        "high": np.nan if measured.high is None else measured.high,
        "certified": bool(own["certified"].all()),
        "seeds": tuple(outcomes.of_trained(own)["accuracy"]),
        "printed": tuple(dict.fromkeys(printed)),
    }


def written(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells as a file holds them: several numbers of one column as a text."""
    lists = {
        name: [" ".join(f"{value:.10g}" for value in values) for values in cells[name]]
        for name in LISTS
    }
    return cells.drop(columns="cell").assign(**lists)


def means_and_printed(cells: pd.DataFrame) -> pd.Series:
    """Return all means and printed numbers, which the axis of a figure must show."""
    printed = [value for values in cells["printed"] for value in values]
    return pd.Series([*cells["mean"].dropna(), *printed], dtype=float)


def told(cell: pd.Series) -> str:
    """Return what a cell reached in words, such as `97.1 ± 0.2 (n=5)`."""
    return cell_words.mean_and_interval(
        {"accuracy_mean": cell["mean"], "ci_high": cell["high"], **cell[["n", "trained"]]}
    )
