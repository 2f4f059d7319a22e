"""What the tests of figures read from axes, and the studies that they draw."""

import math
from pathlib import Path

import numpy as np
import synthetic
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from synthetic import cell, study

INF = math.inf


def lines(ax: Axes) -> dict[str, Line2D]:
    return {line.get_label(): line for line in ax.lines}


def marks(ax: Axes, label: str) -> np.ndarray:
    """The points of all lines of one label [n, 2]."""
    return np.concatenate([ln.get_xydata() for ln in ax.lines if ln.get_label() == label])


def inside(ax: Axes) -> list:
    """The texts within a panel, without the names at the ends of its lines."""
    return [text for text in ax.texts if text.xy[0] != 1.02]


def below(figure) -> str:
    """The note below all panels, in one line."""
    (legend,) = figure.legends
    return " ".join(legend.get_title().get_text().split())


def segments(ax: Axes) -> list[np.ndarray]:
    """The error bars of an axes."""
    return [s for c in ax.collections if hasattr(c, "get_segments") for s in c.get_segments()]


def compare(tmp_path: Path, seeds: int = 3):
    cells = [cell(m, e, seeds) for m in ("sgd", "cadabelief") for e in (2.0, 8.0)]
    cells += [cell(m, INF, 1) for m in ("sgd", "cadabelief")]
    synthetic.write(tmp_path, cells, lambda c, s: {"accuracy": value(c, s)})
    return study(cells)


def value(own: dict, seed: int) -> float:
    base = {2.0: 0.90, 8.0: 0.95, "inf": 0.99}[own["epsilon"]]
    return base + 0.002 * seed + 0.005 * (own["method"] == "cadabelief")


GRID = [0.001, 0.01, 0.1, 1.0]
