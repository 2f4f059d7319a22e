"""Test accuracy against epsilon: a line per method, one for methods that are the same runs.

Bars are 95 % Student intervals over seeds; the frame cuts those that are very wide. Means far below
all others stand at its lower edge, with an arrow and their value.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import style
from dpfl.plots import _failures, _frame
from dpfl.tables import outcomes, results, verdicts

DODGE = 0.6
"""Share of the distance between two epsilons over which the methods are spread."""


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the runs of a study."""
    cells = _cells(_distinct(study, results.frame(study, runs_dir)))
    figure, axes = style.canvas(panel=(8.4, 4.8))
    ax = axes[0, 0]
    epsilons = sorted(cells["epsilon"].unique())
    looks = style.looks(study)
    groups = [g for m in looks for g in cells[cells["method"] == m].groupby("series", sort=False)]
    offsets = DODGE * (np.arange(len(groups)) + 0.5 - len(groups) / 2) / max(len(groups), 1)
    floor = _frame.floor(cells["mean"])
    for (series, group), offset in zip(groups, offsets, strict=True):
        look = looks[group["method"].iloc[0]]
        _line(ax, group.sort_values("epsilon"), epsilons, offset, look, series)
        within = group[group["mean"] >= floor]
        _failures.mark(ax, within["epsilon"].map(epsilons.index) + offset, within["mean"], within)
        _beyond(ax, group[group["mean"] < floor], epsilons, offset, look)
    _label(ax, cells, epsilons)
    delta = style.delta_text(study["delta"])
    ax.set_title(
        f"{style.literal(study['title'])}\n{study['dataset']}, δ = {delta}; mean over seeds and "
        f"95 % interval (none below n = {verdicts.MIN_SPREAD})",
        loc="left",
    )
    style.legend_below(figure, ax)
    return figure


def _distinct(study: dict, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of cells that do not repeat another, which is named beside them."""
    labels = {
        group[0]: " = ".join(study["cells"][index]["label"] for index in group)
        for group in results.same_runs(study)
    }
    runs = runs[runs["cell"].isin(labels)]
    return style.named(runs.assign(label=runs["cell"].map(labels)))


def _cells(runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean, half-width of the interval, n and how many runs trained per cell."""
    rows = []
    runs = runs.assign(series=style.series_of(runs))
    for (method, series, epsilon), own in runs.groupby(["method", "series", "epsilon"], sort=False):
        found = outcomes.of(own)
        rows.append((method, series, epsilon, found.mean, found.half, found.n, found.trained))
    names = ["method", "series", "epsilon", "mean", "half", "n", "trained"]
    return pd.DataFrame(rows, columns=names)


def _line(
    ax: Axes, group: pd.DataFrame, epsilons: list, offset: float, look: style.Look, series: str
) -> None:
    """Draw one method; the non-private point stands apart from the line."""
    x = group["epsilon"].map(epsilons.index).to_numpy() + offset
    private = np.isfinite(group["epsilon"].to_numpy())
    for part, label in ((private, series), (~private, None if private.any() else series)):
        if not part.any():
            continue
        ax.plot(x[part], group["mean"][part], label=label, **look.line())
        bars = part & group["half"].notna().to_numpy()
        ax.errorbar(
            x[bars], group["mean"][bars], group["half"][bars], fmt="none", ecolor=look.colour
        )


def _beyond(ax: Axes, group: pd.DataFrame, epsilons: list, offset: float, look: style.Look) -> None:
    """Mark means that lie below the frame at its lower edge."""
    for epsilon, mean in zip(group["epsilon"], group["mean"], strict=True):
        x = epsilons.index(epsilon) + offset
        place = {"xycoords": ("data", "axes fraction"), "ha": "center", "color": look.colour}
        arrow = {"arrowstyle": "->", "color": look.colour}
        ax.annotate(f"{mean:.1f}", (x, 0), (x, 0.09), arrowprops=arrow, fontsize="small", **place)


def _label(ax: Axes, cells: pd.DataFrame, epsilons: list[float]) -> None:
    counts = [style.seeds_text(cells.loc[cells["epsilon"] == e, "n"]) for e in epsilons]
    names = ["non-private" if np.isinf(e) else f"{e:g}" for e in epsilons]
    ticks = [f"{name}\n{count}" for name, count in zip(names, counts, strict=True)]
    ax.set_xticks(range(len(epsilons)), ticks)
    ax.set_xlim(-0.5, len(epsilons) - 0.5)
    for edge in np.arange(len(epsilons) - 1) + 0.5:
        ax.axvline(edge, color="0.85", linewidth=0.8, zorder=0)
    ax.grid(visible=False, axis="x")
    ax.set_ylim(_frame.limits(cells["mean"], ax.get_ylim()))
    ax.set_xlabel("privacy budget ε")
    ax.set_ylabel("test accuracy, %")
