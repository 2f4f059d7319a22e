"""What a surface says in words: its finding, the note below it, and its numbers."""

import pandas as pd

from dpfl.figures import datasets, style
from dpfl.figures.kinds import _context

MARKS = {"■": "rounds that the budget paid for, of those planned", "×": "runs that failed"}


def note(study: dict, cells: pd.DataFrame, lowest: float) -> str:
    """Return what marks and colours mean; these begin at the accuracy `lowest`."""
    used = [f"{mark} {words}" for mark, words in MARKS.items() if mark in "".join(cells["note"])]
    below = f" Colours begin at {lowest:.1f} %." * bool((cells["accuracy"] < lowest).any())
    told = f" {'; '.join(used)}." * bool(used)
    return f"{_context.about(study)} {style.seeds_text(cells['n'])}.{told}{below}"


def finding(cells: pd.DataFrame, keys: list[str]) -> str:
    """Tell where accuracy is highest at the largest epsilon, and what the worst cell has."""
    own = cells[cells["epsilon"] == cells["epsilon"].max()].dropna(subset=["accuracy"])
    if own.empty:
        return "No run trained"
    best, worst = own.loc[own["accuracy"].idxmax()], own["accuracy"].min()
    at = " and ".join(f"{key.replace('_', ' ')} {best[key]:g}" for key in keys)
    return (
        f"Accuracy is highest at {at}: {best['accuracy']:.1f} % "
        f"{style.at(best['epsilon'])}, {_seeds(best)}; "
        f"the worst cell that trained has {worst:.1f} %"
    )


def _seeds(cell: pd.Series) -> str:
    """Say how many seeds a mean is of, and of how many where some failed."""
    n, trained = cell["n"], cell["trained"]
    return f"n = {n:g}" if trained == n else f"{trained:g} of {n:g} trained"


def shows(study: dict, cells: pd.DataFrame, keys: list[str]) -> str:
    """Return the accuracy of every cell."""
    told = [
        f"{', '.join(f'{key} {cell[key]:g}' for key in keys)}: "
        + (f"{cell['accuracy']:.1f}" if cell["trained"] else "failed")
        for _, cell in cells.iterrows()
    ]
    axes = " and ".join(key.replace("_", " ") for key in keys)
    return f"Mean test accuracy in percent on {datasets.of(study)} over {axes}. {'; '.join(told)}"
