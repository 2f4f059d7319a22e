"""What the tests of figures read from axes, and the studies that they draw."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import synthetic
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from synthetic import cell, study

from dpfl import plugins
from dpfl.figures.drawn import Drawn

INF = math.inf
GRID = [0.001, 0.01, 0.1, 1.0]


def draw(
    figure: str,
    home: Path,
    cells: list[dict],
    outcome: Callable[[dict, int], dict] = lambda c, s: {},
    **options,
) -> Drawn:
    """What a kind of figure shows of a study of these cells."""
    synthetic.write(home, cells, outcome)
    return plugins.load("figures/kinds", figure).draw(study(cells, **options), home)


def uncertified(*methods: str) -> Callable[[dict, int], dict]:
    """An outcome: nothing proves the budgets of some methods."""
    return lambda c, s: {"eps_certified": None} if c["method"] in methods else {}


def lines(ax: Axes) -> dict[str, Line2D]:
    return {line.get_label(): line for line in ax.lines}


def marks(ax: Axes, label: str) -> np.ndarray:
    """The points of all lines of one label [n, 2]."""
    return np.concatenate([ln.get_xydata() for ln in ax.lines if ln.get_label() == label])


def inside(ax: Axes) -> list[str]:
    """The texts within a panel, without the names at the ends of its lines."""
    return [text.get_text() for text in ax.texts if text.xy[0] != 1.02]


def ticks(axis) -> list[str]:
    return [tick.get_text() for tick in axis.get_ticklabels()]


def titles(axes: list[Axes]) -> list[str]:
    return [ax.get_title("left") for ax in axes]


def below(figure) -> str:
    """The note below all panels, in one line."""
    (legend,) = figure.legends
    return " ".join(legend.get_title().get_text().split())


def segments(ax: Axes) -> list[np.ndarray]:
    """The error bars of an axes."""
    return [s for c in ax.collections if hasattr(c, "get_segments") for s in c.get_segments()]


def compare(kind: str, home: Path) -> Drawn:
    """What a kind of figure shows of two methods, three seeds with a budget and one without."""
    budgets = {2.0: 3, 8.0: 3, INF: 1}
    cells = [cell(m, e, seeds) for e, seeds in budgets.items() for m in ("sgd", "cadabelief")]
    return draw(kind, home, cells, lambda c, s: {"accuracy": value(c, s)})


def value(own: dict, seed: int) -> float:
    base = {2.0: 0.90, 8.0: 0.95, "inf": 0.99}[own["epsilon"]]
    return base + 0.002 * seed + 0.005 * (own["method"] == "cadabelief")
