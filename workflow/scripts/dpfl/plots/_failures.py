"""Marks the points of cells some of whose runs failed: their mean is that of the others."""

from collections.abc import Iterable

import pandas as pd
from matplotlib.axes import Axes

from dpfl.tables import rendering


def mark(ax: Axes, x: Iterable[float], y: Iterable[float], cells: pd.DataFrame) -> None:
    """Write how many runs trained above the points of some cells, such as `4 of 5 trained`."""
    for at, height, (_, cell) in zip(x, y, cells.iterrows(), strict=True):
        if rendering.failures(cell):
            ax.annotate(
                rendering.seeds(cell),
                (at, height),
                (0, 4),
                textcoords="offset points",
                ha="center",
                fontsize="x-small",
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
            )
