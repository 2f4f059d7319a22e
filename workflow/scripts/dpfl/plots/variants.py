"""Test accuracy by variant: a mark per method, a bar for the 95 % Student interval over seeds.

All panels share one frame, which cuts intervals that are very wide. Means far below all others
stand at its left edge, with an arrow and their value.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import style
from dpfl.plots import _failures, _frame
from dpfl.tables import outcomes, rendering, results

DODGE = 0.6
LETTER = 0.075  # width in inches of a letter of a tick's name


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the runs of a study; a panel per epsilon."""
    runs = style.named(results.frame(study, runs_dir))
    variants = [results.variant_text(cell["variant"]) for cell in study["cells"]]
    variants = list(dict.fromkeys(variants))
    epsilons = sorted(runs["epsilon"].unique())
    names = [_tick(runs, cell["variant"]) for cell in _each(study, variants)]
    height = 1.2 + len(variants) * (0.25 + 0.16 * runs["method"].nunique())
    width = max(3.6, 7.5 / len(epsilons)) + LETTER * max(map(len, names)) / len(epsilons)
    figure, axes = style.canvas(1, len(epsilons), panel=(width, height), sharey=True)
    cells = _cells(runs)
    for ax, epsilon in zip(axes[0], epsilons, strict=True):
        own = cells[cells["epsilon"] == epsilon]
        _panel(ax, own, variants, _frame.floor(cells["mean"]), style.looks(study))
        ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(own['n'])}", loc="left")
        ax.set_xlabel("test accuracy, %")
    drawn = np.array([ax.get_xlim() for ax in axes[0]])
    ends = _frame.limits(cells["mean"], (drawn[:, 0].min(), drawn[:, 1].max()))
    for ax in axes[0]:
        ax.set_xlim(ends)
    axes[0, 0].set_yticks(range(len(variants)), names)
    axes[0, 0].set_ylim(len(variants) - 0.5, -0.5)
    style.title(
        figure,
        f"{study['title']}\n{study['dataset']}, mean and 95 % interval over seeds",
    )
    fullest = max(axes[0], key=lambda ax: len(ax.get_legend_handles_labels()[1]))
    style.legend_below(figure, fullest)
    return figure


def _each(study: dict, variants: list[str]) -> list[dict]:
    """Return a cell of every variant, in this order."""
    cells = {results.variant_text(cell["variant"]): cell for cell in study["cells"]}
    return [cells[variant] for variant in variants]


def _tick(runs: pd.DataFrame, variant: dict) -> str:
    """Name a variant; numbers with their key, and marks that not all of its method have."""
    split = runs.groupby("method")["label"].transform("nunique") > 1
    own = runs[split & (runs["variant"] == results.variant_text(variant))]
    parts = [v if isinstance(v, str) else f"{k}={v}" for k, v in variant.items()]
    proven = own["certified"].any() or not len(own)
    return (", ".join(parts) or "default") + rendering.marks(proven, own["refuted"].any())


def _shared(labels: pd.Series) -> str:
    """Return the label that all of them are, if there is one."""
    return labels.iloc[0] if labels.nunique() == 1 else ""


def _cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean, half-width of the interval, n and the number of runs that trained per cell."""
    rows = []
    for key, own in runs.groupby(["method", "variant", "epsilon"], sort=False):
        found = outcomes.of(own)
        rows.append((*key, _shared(own["label"]), found.mean, found.half, found.n, found.trained))
    names = ["method", "variant", "epsilon", "label", "mean", "half", "n", "trained"]
    return pd.DataFrame(rows, columns=names)


def _panel(
    ax: Axes,
    cells: pd.DataFrame,
    variants: list[str],
    floor: float,
    looks: dict[str, style.Look],
) -> None:
    methods = [m for m in looks if m in set(cells["method"])]
    offsets = DODGE * (np.arange(len(methods)) + 0.5 - len(methods) / 2) / len(methods)
    for method, offset in zip(methods, offsets, strict=True):
        own = cells[cells["method"] == method]
        y = own["variant"].map(variants.index) + offset
        line = looks[method].line() | {"linestyle": "none"}
        ax.plot(own["mean"], y, label=_shared(own["label"]) or method, **line)
        bars, colour = own["half"].notna(), looks[method].colour
        ax.errorbar(own["mean"][bars], y[bars], xerr=own["half"][bars], fmt="none", ecolor=colour)
        beyond = own["mean"] < floor
        _failures.mark(ax, own["mean"][~beyond], y[~beyond], own[~beyond])
        for (_, cell), height in zip(own[beyond].iterrows(), y[beyond], strict=True):
            _beyond(ax, cell, height, colour)
    for edge in np.arange(len(variants) - 1) + 0.5:
        ax.axhline(edge, color="0.85", linewidth=0.8, zorder=0)
    ax.grid(visible=False, axis="y")


def _beyond(ax: Axes, cell: pd.Series, height: float, colour: str) -> None:
    """Mark a mean that lies below the frame at its left edge."""
    lost = f" ({rendering.seeds(cell)})" if rendering.failures(cell) else ""
    ax.annotate(
        f"{cell['mean']:.1f}{lost}",
        (0, height),
        (0.09, height),
        xycoords=("axes fraction", "data"),
        arrowprops={"arrowstyle": "->", "color": colour},
        fontsize="small",
        va="center",
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )
