"""Runs that failed: a count at the edge of the frame, never a part of a mean.

A run fails if its loss was not finite, if it ended at chance level, or far under the cell's median
(`tables.outcomes`).
"""

import pandas as pd
from matplotlib.axes import Axes

from dpfl.figures import style
from dpfl.figures.looks import Look
from dpfl.seeds import outcomes

SHORT = f"runs that failed (not finite, at chance or {outcomes.FAR:g} points under their cell)"
WORDS = f"{SHORT} are in no mean"


def note(cells: pd.DataFrame) -> str:
    """Return what a figure says of failed runs, if there are any."""
    return f"; {WORDS}" if (cells["trained"] < cells["n"]).any() else ""


def sentence(cells: pd.DataFrame) -> str:
    """Return the same as a sentence of its own."""
    said = note(cells).removeprefix("; ")
    return f" {said[:1].upper()}{said[1:]}." if said else ""


def text(cell: pd.Series, short: bool = False) -> str:
    """Return how many runs of a cell failed, such as `2 of 3 failed`, or short `2/3`."""
    lost = int(cell["n"] - cell["trained"])
    if not lost:
        return ""
    return f"{lost}/{cell['n']} failed" if short else f"{lost} of {cell['n']} failed"


def at_foot(ax: Axes, x: float, cell: pd.Series, look: Look) -> None:
    """Write at the lower edge how many runs of a cell failed, beside its bar and its mark."""
    words = text(cell, short=True)
    if words:
        beside = {"xytext": (-7, 0), "textcoords": "offset points", "ha": "right"}
        foot = (x, 0.012), ("data", "axes fraction")
        _write(ax, words, *foot, look, rotation=90, va="bottom", **beside)


def at_left(ax: Axes, y: float, cell: pd.Series, look: Look) -> None:
    """Write the same at the left edge of a horizontal axis."""
    words = text(cell)
    if words:
        _write(ax, words, (0.01, y), ("axes fraction", "data"), look, ha="left", va="center")


def _write(ax: Axes, words: str, at: tuple, coordinates: tuple, look: Look, **keywords) -> None:
    ax.annotate(
        words,
        at,
        xycoords=coordinates,
        fontsize=style.SMALL,
        color=look.colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
        zorder=5,
        **{"ha": "center"} | keywords,
    )
