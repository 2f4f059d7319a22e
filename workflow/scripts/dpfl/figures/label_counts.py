"""How the labels are spread over the clients: bars for a few clients, a map for many."""

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

MOST_BARS = 30
# Both are ordered in lightness, so they also read in grey and for colour-blind readers.
SHADES = matplotlib.colormaps["viridis"]
HEAT = "YlGnBu"
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
    clients, classes = counts.shape
    for label, shade in enumerate(SHADES(np.linspace(0, 1, classes))):
        bars = axes.barh(
            range(clients),
            counts[:, label],
            left=counts[:, :label].sum(axis=1),
            color=shade,
            edgecolor="white",
            linewidth=0.5,
            label=str(label),
        )
        named = counts[:, label] >= NARROWEST_NAMED * counts.sum(axis=1).max()
        ink = "white" if label < 0.6 * classes else "black"
        names = np.where(named, str(label), "")
        axes.bar_label(bars, names, label_type="center", color=ink, fontsize=8)
    axes.set(xlabel="examples", ylabel="client", yticks=range(clients), ylim=(clients - 0.4, -0.6))
    axes.spines[["top", "right"]].set_visible(False)
    axes.figure.legend(
        title="label",
        loc="outside right center",
        frameon=False,
        fontsize=8,
        ncols=1 + classes // 11,
    )


def _heat_map(axes: Axes, counts: np.ndarray) -> None:
    """One column a client, one row a label; a label that a client lacks is left pale."""
    image = axes.imshow(
        counts.T, cmap=HEAT, vmin=0, aspect="auto", interpolation="nearest", origin="lower"
    )
    axes.set(xlabel="client", ylabel="label")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(nbins=10, steps=[1, 2, 5, 10], integer=True))
    axes.figure.colorbar(image, ax=axes, label="examples", pad=0.02)
