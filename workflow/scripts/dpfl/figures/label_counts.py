"""How the labels are spread over the clients: bars for a few clients, a map for many."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

MOST_BARS = 30
# Both are ordered in lightness, so they also read in grey and for colour-blind readers.
SHADES, HEAT = "viridis", "YlGnBu"
NARROWEST_NAMED = 0.02  # of the longest bar: a narrower segment has no room for its label


def draw(counts: np.ndarray, title: str) -> Figure:
    """Draw label counts [clients, classes]: stacked bars to 30 of both, a heat map beyond."""
    few = max(counts.shape) <= MOST_BARS
    figure = Figure(figsize=(9, 1.8 + 0.26 * len(counts) if few else 4.2), layout="constrained")
    axes = figure.add_subplot()
    (_bars if few else _heat_map)(axes, counts)
    axes.set_title(title, fontsize="medium")
    return figure


def _bars(axes: Axes, counts: np.ndarray) -> None:
    """One bar a client; its segments are in label order, with the label inside."""
    classes, most = counts.shape[1], counts.sum(axis=1).max()
    edge = {"edgecolor": "white", "linewidth": 0.5, "width": 0.8, "legend": False}
    pd.DataFrame(counts).plot.barh(stacked=True, ax=axes, colormap=SHADES, **edge)
    for label, bars in enumerate(axes.containers):
        names = np.where(counts[:, label] >= NARROWEST_NAMED * most, str(label), "")
        ink = "white" if label < 0.6 * classes else "black"
        axes.bar_label(bars, names, label_type="center", color=ink, fontsize=8)
    axes.set(xlabel="examples", ylabel="client", ylim=(len(counts) - 0.4, -0.6))
    axes.spines[["top", "right"]].set_visible(False)
    look = {"title": "label", "frameon": False, "fontsize": 8, "ncols": 1 + classes // 11}
    axes.figure.legend(loc="outside right center", **look)


def _heat_map(axes: Axes, counts: np.ndarray) -> None:
    """One column a client, one row a label; a label that a client lacks is left pale."""
    image = axes.imshow(counts.T, cmap=HEAT, vmin=0, aspect="auto", origin="lower")
    axes.set(xlabel="client", ylabel="label")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=10, steps=[1, 2, 5, 10], integer=True))
    axes.figure.colorbar(image, ax=axes, label="examples", pad=0.02)
