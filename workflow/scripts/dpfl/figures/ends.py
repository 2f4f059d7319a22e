"""Names at the ends of lines, in the margin right of a panel, in place of a legend."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dpfl.figures import style
from dpfl.figures.looks import Look

HEIGHT = 1.45 * style.SMALL / 72
"""Of one name, inches."""
PLOT = 0.72
"""Share of a figure's height that the panels of one row take."""


def name(ax: Axes, lines: Sequence[tuple[str, Look, pd.DataFrame]], rows: int = 1) -> None:
    """Write the names of lines at the right of a panel, which is one of so many rows.

    The last known mean of a line's table is where it ends. Names do not overlap. The limits of the
    vertical axis are final.
    """
    low, high = sorted(ax.get_ylim())
    ends = [[low, *line["mean"].dropna()][-1] for *_, line in lines]
    known = [low, high, *np.clip(ends, low, high)]
    bottom, top, *heights = ax.yaxis.get_transform().transform(known)
    inches = ax.figure.get_figheight() * PLOT / rows
    placed = spread((np.array(heights) - bottom) / (top - bottom), HEIGHT / inches)
    for (text, look, line), height in zip(lines, placed, strict=True):
        private = line[np.isfinite(line["epsilon"])]
        _name(ax, text, height, look.mark(bool(private["certified"].all())))


def _name(ax: Axes, text: str, height: float, mark: dict[str, object]) -> None:
    """Write one name after its marker."""
    keywords = mark | {"clip_on": False, "label": f"_name of {text}"}
    ax.plot([1.02], [height], transform=ax.transAxes, **keywords)
    place = {"xycoords": "axes fraction", "textcoords": "offset points", "annotation_clip": False}
    look = {"va": "center", "fontsize": style.SMALL, "color": style.INK}
    ax.annotate(style.literal(text), (1.02, height), (6, 0), **place, **look)


def spread(wanted: Sequence[float], gap: float) -> np.ndarray:
    """Return heights near those wanted, in their order, no two nearer than a gap.

    They stay between 0 and 1 if there is room for all.
    """
    order, steps = np.argsort(wanted, kind="stable"), gap * np.arange(len(wanted))
    raised = np.maximum.accumulate(np.maximum(np.sort(wanted) - steps, 0)) + steps
    highest = max(1.0, gap * (len(wanted) - 1))
    heights = np.empty(len(wanted))
    heights[order] = np.minimum(raised, highest - steps[::-1])
    return heights
