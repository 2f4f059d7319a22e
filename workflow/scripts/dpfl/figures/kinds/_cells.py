"""The cells of a study as figures show them: mean and interval of what trained, seeds, printed."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpfl.figures import families
from dpfl.seeds import outcomes
from dpfl.words import cell_words, forms

LISTS = ("seeds", "printed", "rerun")
"""Columns that hold several numbers."""


def of(study: dict, runs: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    """Return a row per cell: some columns of its runs, and what they reached, in percent.

    `mean`, `low`, `high` and `seeds` are those of the runs that trained, `mean` is nan without any;
    `printed` is what the paper prints of the cell, `rerun` what other papers do.
    `runs` are those of `results.frame`; cells without a run have no row.
    """
    groups = runs.groupby("cell", sort=False)
    rows = [{key: own[key].iloc[0] for key in keys} | _one(study, own) for _, own in groups]
    return pd.DataFrame(rows)


def _one(study: dict, own: pd.DataFrame) -> dict[str, Any]:
    found, index = outcomes.of(own), int(own["cell"].iloc[0])
    numbers = study["cells"][index].get("published", [])
    measured = found.accuracy
    return {
        "cell": index,
        "n": found.n,
        "trained": found.trained,
        "mean": found.mean if found.trained else np.nan,
        "low": measured.low,
        "high": measured.high,
        "certified": bool(own["certified"].all()),
        "seeds": tuple(outcomes.of_trained(own)["accuracy"]),
        "printed": _values(number for number in numbers if not number.get("by")),
        "rerun": _values(number for number in numbers if number.get("by")),
    }


def _values(numbers: Iterable[dict]) -> tuple[float, ...]:
    return tuple(dict.fromkeys(number["value"] for number in numbers))


def written(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells as a file holds them: several numbers of one column as a text."""
    lists = {
        name: [" ".join(f"{value:.10g}" for value in values) for values in cells[name]]
        for name in LISTS
    }
    return cells.drop(columns="cell").assign(**lists)


def means_and_printed(cells: pd.DataFrame) -> pd.Series:
    """Return all means and printed numbers, which the axis of a figure must show."""
    printed = [value for name in ("printed", "rerun") for own in cells[name] for value in own]
    return pd.Series([*cells["mean"].dropna(), *printed], dtype=float)


def diamonds(cell: pd.Series) -> Iterator[tuple[float, bool]]:
    """Yield the numbers that are printed of a cell, each with whether another paper reran it."""
    for name in ("printed", "rerun"):
        yield from ((value, name == "rerun") for value in cell[name])


def reran(study: dict, cells: pd.DataFrame) -> list[str]:
    """Return the other papers that printed numbers of a study's cells come from."""
    found = [number.get("by") for _, number in _numbers(study, cells)]
    return [*dict.fromkeys(filter(None, found))]


def shared(study: dict, cells: pd.DataFrame) -> str:
    """Say beside which methods a printed number stands; nothing of one beside one method."""
    beside: dict[tuple[int, str], dict[str, None]] = {}
    for method, number in _numbers(study, cells):
        beside.setdefault((number["line"], number["row"]), {})[families.title(method)] = None
    several = {(row, tuple(own)): None for (_, row), own in beside.items() if len(own) > 1}
    return "".join(
        f" What is printed of {row} stands beside each of {forms.listed(methods)}."
        for row, methods in several
    )


def _numbers(study: dict, cells: pd.DataFrame) -> Iterator[tuple[str, dict]]:
    """Yield every printed number of some cells, with the method of its cell."""
    for own in (study["cells"][index] for index in cells["cell"]):
        yield from ((own["method"], number) for number in own.get("published", []))


def told(cell: pd.Series) -> str:
    """Return what a cell reached in words, such as `97.1 ± 0.2 (n=5)`."""
    return cell_words.mean_and_interval(
        {"accuracy_mean": cell["mean"], "ci_high": cell["high"], **cell[["n", "trained"]]}
    )
