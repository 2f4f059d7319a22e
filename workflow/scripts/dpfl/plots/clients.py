"""Test accuracy against the number of clients, a panel per epsilon.

A line per method, or per value of what else is varied. A point is the mean over seeds, a bar its
95 % Student interval; with one seed there is no bar. Dashed and hollow: the same without privacy.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from dpfl.figures import style
from dpfl.plots import _failures
from dpfl.tables import outcomes, results

VARIES = ("clients",)
FREE = {"linestyle": (0, (4, 2)), "linewidth": 1.3, "markerfacecolor": "white", "alpha": 0.75}
DODGE = 0.02  # decades between the lines, so that their bars stand apart


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the runs of a study."""
    cells = _cells(study, results.frame(study, runs_dir))
    if cells is None:
        return style.nothing(f"{study['title']}: no study of the number of clients")
    epsilons = sorted(cells["epsilon"].unique())
    private = [e for e in epsilons if np.isfinite(e)] or epsilons
    panel = (max(4.2, 6.4 / len(private)), 3.8)
    figure, axes = style.canvas(1, len(private), panel=panel, sharex=True, sharey=True)
    looks = _looks(study, cells)
    free = cells[np.isinf(cells["epsilon"])]
    for ax, epsilon in zip(axes[0], private, strict=True):
        own = cells[cells["epsilon"] == epsilon]
        _panel(ax, own, free if np.isfinite(epsilon) else free.iloc[:0], looks)
        ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(own['n'])}", loc="left")
    _ticks(axes[0, 0], sorted(cells["clients"].unique()))
    style.finish(axes, len(private), "clients", "test accuracy, %")
    unit = {"client": "whole clients protected", "example": "examples protected"}
    style.title(
        figure,
        f"{study['title']}\n{study['dataset']}, {unit[results.unit_of(study)]}, "
        f"δ = {style.delta_text(study['delta'])}; mean and 95 % interval over seeds",
    )
    style.legend_below(figure, axes[0, 0], columns=3)
    return figure


def _cells(study: dict, runs: pd.DataFrame) -> pd.DataFrame | None:
    """Return mean, half-width, n and how many trained per cell; None if none counts clients."""
    rows = []
    for index, cell in enumerate(study["cells"]):
        if "clients" not in cell["variant"]:
            return None
        found = outcomes.of(runs[runs["cell"] == index])
        others = results.variant_text(cell["variant"], without="clients")
        rows.append(
            {
                "method": cell["method"],
                "series": ", ".join(filter(None, (style.label_of(cell, runs), others))),
                "clients": cell["variant"]["clients"],
                "epsilon": results.number(cell["epsilon"]),
                "mean": found.mean,
                "half": found.half,
                "n": found.n,
                "trained": found.trained,
            }
        )
    return pd.DataFrame(rows)


def _looks(study: dict, cells: pd.DataFrame) -> dict[str, style.Look]:
    """Return the look of each line: its method's, unless methods have several lines."""
    pairs = cells.drop_duplicates("series")
    if pairs["method"].is_unique:
        known = style.looks(study)
        return {row["series"]: known[row["method"]] for _, row in pairs.iterrows()}
    return style.numbered(pairs["series"])


def _panel(ax: Axes, own: pd.DataFrame, free: pd.DataFrame, looks: dict[str, style.Look]) -> None:
    """Draw one privacy setting, with the runs without privacy behind it."""
    for number, (series, line) in enumerate(own.groupby("series", sort=False)):
        look = looks[series]
        line = line.sort_values("clients")
        x = line["clients"] * 10 ** (DODGE * (number - (own["series"].nunique() - 1) / 2))
        ax.plot(x, line["mean"], label=series, **look.line() | {"linestyle": "-"})
        _failures.mark(ax, x, line["mean"], line)
        bars = line["half"].notna()
        ax.errorbar(x[bars], line["mean"][bars], line["half"][bars], fmt="none", ecolor=look.colour)
        beside = free[free["series"] == series].sort_values("clients")
        faint = look.line() | FREE | {"markeredgecolor": look.colour, "markeredgewidth": 1.0}
        if len(beside):
            ax.plot(beside["clients"], beside["mean"], label=f"_{series}", zorder=1, **faint)
    if len(free):
        grey = FREE | {"color": "0.35", "marker": "o", "markeredgecolor": "0.35"}
        ax.plot([], [], label="without privacy", **grey)


def _ticks(ax: Axes, clients: list[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(clients, [f"{count:g}" for count in clients])
    ax.xaxis.set_minor_locator(NullLocator())
