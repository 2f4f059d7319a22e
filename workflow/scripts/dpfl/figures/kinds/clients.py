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
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from dpfl.figures import datasets, drawn, ends, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _context, _failures
from dpfl.tables import results

VARIES = ("clients",)
FREE = {"linewidth": 0.9, "alpha": 0.8}
SMALLER = 0.55
"""Times the size of a mark: that of the same without privacy."""
DODGE = 0.02  # decades between the lines, so that their bars stand apart


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study."""
    cells, runs = _counted(study, results.frame(study, runs_dir))
    if cells is None:
        return drawn.nothing(f"{study['title']}: no study of the number of clients")
    epsilons = sorted(cells["epsilon"].unique())
    private = [e for e in epsilons if np.isfinite(e)] or epsilons
    panel = (max(2.4, 6.4 / len(private)), 3.8)
    figure, axes = style.canvas(1, len(private), panel=panel, sharex=True, sharey=True)
    known = _looks(study, cells)
    free = cells[np.isinf(cells["epsilon"])]
    for ax, epsilon in zip(axes[0], private, strict=True):
        own = cells[cells["epsilon"] == epsilon]
        _panel(ax, own, free if np.isfinite(epsilon) else free.iloc[:0], known)
        ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(own['n'])}", loc="left")
    _ticks(axes[0, 0], sorted(cells["clients"].unique()))
    style.finish(axes, len(private), "clients", "test accuracy, %")
    ends.name(axes[0, -1], _ends(axes[0, -1], cells[cells["epsilon"] == private[-1]], known))
    _explain(figure, study, cells, bool(len(free)) and len(private) < len(epsilons))
    finding = _finding(runs, study)
    return drawn.told(figure, _cells.written(cells), finding, _shows(study, cells))


def _counted(study: dict, runs: pd.DataFrame) -> tuple[pd.DataFrame | None, pd.DataFrame]:
    """Return a row per cell, None if some does not count its clients, and the runs by series."""
    if not all("clients" in cell["variant"] for cell in study["cells"]):
        return None, runs
    variants = [cell["variant"] for cell in study["cells"]]
    others = [results.variant_text(variant, without="clients") for variant in variants]
    runs = runs.assign(clients=[variants[c]["clients"] for c in runs["cell"]])
    runs = runs.assign(series=style.names(runs.assign(variant=[others[c] for c in runs["cell"]])))
    return _cells.of(study, runs, ["method", "series", "clients", "epsilon"]), runs


def _finding(runs: pd.DataFrame, study: dict) -> str:
    """Tell who leads at the most clients, or how far the only line is."""
    most = runs["clients"].max()
    said = findings.leading(runs[runs["clients"] == most], study.get("focus"))
    return f"With {most:g} clients: {said}"


def _looks(study: dict, cells: pd.DataFrame) -> dict[str, looks.Look]:
    """Return the look of each line: its method's, unless methods have several lines."""
    pairs = cells.drop_duplicates("series")
    if pairs["method"].is_unique:
        known = looks.of_study(study)
        return {row["series"]: known[row["method"]] for _, row in pairs.iterrows()}
    return looks.numbered(pairs["series"])


def _panel(ax: Axes, own: pd.DataFrame, free: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    """Draw one privacy setting, with the runs without privacy behind it."""
    for number, (series, line) in enumerate(own.groupby("series", sort=False)):
        look = known[series]
        line = line.sort_values("clients")
        x = line["clients"] * 10 ** (DODGE * (number - (own["series"].nunique() - 1) / 2))
        _line(ax, line.assign(x=x), look, series)
        beside = free[free["series"] == series].sort_values("clients")
        if len(beside):
            small = look.line() | {"markersize": SMALLER * look.line()["markersize"]} | FREE
            ax.plot(beside["clients"], beside["mean"], label=f"_free {series}", zorder=1, **small)


def _line(ax: Axes, line: pd.DataFrame, look: looks.Look, series: str) -> None:
    proven = bool(line["certified"].all())
    ax.plot(line["x"], line["mean"], label=series, **look.line(proven))
    bars = line[line["low"].notna()]
    half = bars["high"] - bars["mean"]
    ax.errorbar(bars["x"], bars["mean"], half, fmt="none", ecolor=look.colour)
    for _, cell in line.iterrows():
        _failures.at_foot(ax, cell["x"], cell, look)
        if len(cell["seeds"]) > 1:
            dots = {"color": look.colour, "label": "_seeds", **keys.DOT}
            ax.plot([cell["x"]] * len(cell["seeds"]), cell["seeds"], **dots)


def _ends(ax: Axes, cells: pd.DataFrame, known: dict[str, looks.Look]) -> dict:
    found = {}
    for series, line in cells.groupby("series", sort=False):
        means = line.sort_values("clients")["mean"].dropna()
        last = means.iloc[-1] if len(means) else ax.get_ylim()[0]
        found[series] = (last, known[series], bool(line["certified"].all()))
    return found


def _ticks(ax: Axes, clients: list[int]) -> None:
    ax.set_xscale("log")
    ax.set_xticks(clients, [f"{count:g}" for count in clients])
    ax.xaxis.set_minor_locator(NullLocator())


def _explain(figure: Figure, study: dict, cells: pd.DataFrame, free: bool) -> None:
    private = cells[np.isfinite(cells["epsilon"])]
    small = keys.GREY.line() | {"markersize": 3.5} | FREE
    handles = [
        *keys.proof(private["certified"]),
        *keys.seeds(cells["n"]),
        *([Line2D([], [], label="without privacy", **small)] if free else []),
    ]
    style.note(figure, f"{_context.about(study)}{_failures.sentence(cells)}", handles)


def _shows(study: dict, cells: pd.DataFrame) -> str:
    parts = []
    for (series, epsilon), own in cells.groupby(["series", "epsilon"], sort=False):
        told = [f"{c['clients']:g} clients {_cells.told(c)}" for _, c in own.iterrows()]
        parts.append(f"{series}, {style.epsilon_text(epsilon)}: {', '.join(told)}")
    return f"Test accuracy in percent against clients on {datasets.of(study)}. " + "; ".join(parts)
