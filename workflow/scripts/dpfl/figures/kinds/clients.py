"""Test accuracy against the number of clients, a panel per epsilon.

A line per method, or per value of what else is varied. A point is the mean over the seeds that
trained, a dot one seed, a bar the 95 % Student interval, none below three seeds; runs that failed
stand as a count at the lower edge. Thin lines with small marks: the same without privacy. Dashed
and hollow: no proof of epsilon.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpfl.figures import datasets, drawn, ends, findings, keys, looks, style
from dpfl.figures.kinds import _cells
from dpfl.tables import results

VARIES = ("clients",)
DODGE = 0.02  # decades between the lines, so that their bars stand apart


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study."""
    variants = [cell["variant"] for cell in study["cells"]]
    if not all("clients" in variant for variant in variants):
        return drawn.nothing(f"{study['title']}: no study of the number of clients")
    runs = results.frame(study, runs_dir)
    others = [results.variant_text(variants[c], without="clients") for c in runs["cell"]]
    series = style.names(runs.assign(variant=others))
    runs = runs.assign(series=series, clients=[variants[c]["clients"] for c in runs["cell"]])
    cells = _cells.measured(study, runs, ["method", "series", "clients", "epsilon"])
    free = cells[np.isinf(cells["epsilon"])]
    epsilons = sorted(cells["epsilon"].unique())
    private = [e for e in epsilons if np.isfinite(e)] or epsilons
    figure, axes = style.panels(len(private), len(private), width=6.4, least=2.4, height=3.8)
    known = _looks(study, cells)
    for ax, epsilon in zip(axes[0], private, strict=True):
        own = cells[cells["epsilon"] == epsilon]
        _panel(ax, own, free if np.isfinite(epsilon) else free.iloc[:0], known)
        ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(own['n'])}", loc="left")
    _ticks(axes[0, 0], sorted(cells["clients"].unique()))
    style.finish(axes, len(private), "clients", "test accuracy, %")
    last = cells[cells["epsilon"] == private[-1]].sort_values("clients")
    ends.name(axes[0, -1], [(s, known[s], last[last["series"] == s]) for s in known])
    beside = len(free) and len(private) < len(epsilons)
    named = [Line2D([], [], label="without privacy", **_small(keys.GREY))] if beside else []
    _cells.note(figure, study, cells, named)
    most = runs["clients"].max()
    leads = findings.leading(runs[runs["clients"] == most], study.get("focus"))
    data = cells.drop(columns="cell")
    return drawn.titled(figure, data, f"With {most:g} clients: {leads}", _shows(study, cells))


def _looks(study: dict, cells: pd.DataFrame) -> dict[str, looks.Look]:
    """Return the look of each line: its method's, unless methods have several lines."""
    methods = cells.drop_duplicates("series").set_index("series")["method"]
    known = looks.of_study(study)
    if methods.is_unique:
        return {series: known[method] for series, method in methods.items()}
    return looks.numbered(methods.index)


def _panel(ax: Axes, own: pd.DataFrame, free: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    """Draw one privacy setting, with the runs without privacy behind it."""
    for number, (series, line) in enumerate(own.groupby("series", sort=False)):
        line = line.sort_values("clients")
        x = line["clients"] * 10 ** (DODGE * (number - (own["series"].nunique() - 1) / 2))
        proven = bool(line["certified"].all())
        ax.plot(x, line["mean"], label="_line", **known[series].line(proven))
        for at, (_, cell) in zip(x, line.iterrows(), strict=True):
            _cells.draw(ax, cell, at, known[series], series, _cells.Frame())
        beside = free[free["series"] == series].sort_values("clients")
        small = {"label": f"_free {series}", "zorder": 1} | _small(known[series])
        ax.plot(beside["clients"], beside["mean"], **small)


def _small(look: looks.Look) -> dict[str, object]:
    """Return how the same is drawn without privacy: thin, with small marks."""
    line = look.line()
    return line | {"markersize": 0.55 * line["markersize"], "linewidth": 0.9, "alpha": 0.8}


def _ticks(ax: Axes, clients: list[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(clients, [f"{count:g}" for count in clients])
    ax.xaxis.set_minor_locator(NullLocator())


def _shows(study: dict, cells: pd.DataFrame) -> str:
    series = cells["series"] + cells["clients"].map(", {:g} clients".format)
    told = style.by_epsilon(cells.assign(series=series), _cells.words)
    return f"Test accuracy in percent against clients on {datasets.title(study['dataset'])}. {told}"
