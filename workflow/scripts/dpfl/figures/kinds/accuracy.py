"""Test accuracy against epsilon: a line per method, one for methods that are the same runs.

A mark is the mean over the seeds that trained, a dot one seed, a bar the 95 % Student interval,
none below three seeds; the frame cuts bars that are very wide. Runs that failed stand as a count at
the lower edge, means far below all others beside it with an arrow. A hollow mark has no proof of
its epsilon, a black diamond is a number that the paper prints.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import datasets, drawn, ends, families, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _context, _failures, _frame
from dpfl.tables import results

DODGE = 0.7
"""Share of the distance between two epsilons over which the methods are spread."""
ASIDE = 0.3
"""Share of a method's place by which its seeds stand beside its bar."""


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study."""
    runs = _distinct(study, results.frame(study, runs_dir))
    cells = _cells.of(study, runs, ["method", "series", "epsilon"])
    figure, axes = style.canvas(panel=(8.4, max(4.6, 1.6 + 0.19 * cells["series"].nunique())))
    ax, epsilons = axes[0, 0], sorted(cells["epsilon"].unique())
    known = looks.of_study(study)
    lines = [g for m in known for g in cells[cells["method"] == m].groupby("series", sort=False)]
    offsets = DODGE * (np.arange(len(lines)) + 0.5 - len(lines) / 2) / max(len(lines), 1)
    aside = ASIDE * DODGE / max(len(lines), 1)
    placed = {
        series: (
            known[group["method"].iloc[0]],
            group.assign(x=_x(group, epsilons) + offset, aside=aside),
        )
        for (series, group), offset in zip(lines, offsets, strict=True)
    }
    floor = _frame.floor(cells["mean"])
    for look, group in placed.values():
        _line(ax, group.sort_values("epsilon"), look, floor)
    _label(ax, cells, epsilons)
    ends.name(ax, {series: _end(ax, *own) for series, own in placed.items()})
    _explain(figure, study, cells)
    finding = findings.leading(runs, study.get("focus"))
    return drawn.told(figure, _cells.written(cells), finding, _shows(study, cells))


def _x(group: pd.DataFrame, epsilons: list[float]) -> pd.Series:
    return group["epsilon"].map(epsilons.index)


def _distinct(study: dict, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the runs of cells that do not repeat another, which is named beside them."""
    titles = {
        group[0]: " = ".join(families.title(study["cells"][i]["method"]) for i in group)
        for group in results.same_runs(study)
    }
    runs = runs[runs["cell"].isin(titles)]
    return runs.assign(series=style.names(runs, runs["cell"].map(titles)))


def _line(ax: Axes, group: pd.DataFrame, look: looks.Look, floor: float) -> None:
    """Draw one method; the non-private point stands apart from the line."""
    inside = group[group["mean"] >= floor]
    private = inside[np.isfinite(inside["epsilon"])]
    proven = bool(private["certified"].all())
    join = look.line(proven) | {"marker": "", "linewidth": 1.2, "alpha": 0.6}
    ax.plot(private["x"], private["mean"], label="_line", **join)
    for own, certified in inside.groupby("certified"):
        keywords = look.mark(bool(own)) | {"label": group["series"].iloc[0], "zorder": 4}
        ax.plot(certified["x"], certified["mean"], **keywords)
    bars = inside[inside["low"].notna()]
    half = bars["high"] - bars["mean"]
    ax.errorbar(bars["x"], bars["mean"], half, fmt="none", ecolor=look.colour)
    for _, cell in group.iterrows():
        _beside(ax, cell, look, floor)


def _beside(ax: Axes, cell: pd.Series, look: looks.Look, floor: float) -> None:
    """Draw the seeds of a cell, what is printed of it, what failed and what left the frame."""
    x, seeds = cell["x"], cell["seeds"]
    if len(seeds) > 1:
        dots = {"color": look.colour, "label": "_seeds", **keys.DOT}
        ax.plot([x + cell["aside"]] * len(seeds), seeds, **dots)
    for value, rerun in _cells.diamonds(cell):
        ax.plot([x], [value], label="_printed", **look.printed(rerun))
    _failures.at_foot(ax, x, cell, look)
    if cell["mean"] < floor:
        place = {"xycoords": ("data", "axes fraction"), "ha": "center", "color": look.colour}
        arrow = {"arrowstyle": "->", "color": look.colour}
        size = {"fontsize": style.SMALL}
        ax.annotate(f"{cell['mean']:.1f}", (x, 0), (x, 0.11), arrowprops=arrow, **size, **place)


def _label(ax: Axes, cells: pd.DataFrame, epsilons: list[float]) -> None:
    counts = [style.seeds_text(cells.loc[cells["epsilon"] == e, "n"]) for e in epsilons]
    names = ["non-private" if np.isinf(e) else f"{e:g}" for e in epsilons]
    ticks = [f"{name}\n{count}" for name, count in zip(names, counts, strict=True)]
    ax.set_xticks(range(len(epsilons)), ticks)
    ax.set_xlim(-0.5, len(epsilons) - 0.5)
    for edge in np.arange(len(epsilons) - 1) + 0.5:
        ax.axvline(edge, color="0.85", linewidth=0.8, zorder=0)
    ax.grid(visible=False, axis="x")
    ax.set_ylim(_frame.limits(_cells.means_and_printed(cells), ax.get_ylim()))
    ax.set_xlabel("privacy budget ε")
    ax.set_ylabel("test accuracy, %")


def _end(ax: Axes, look: looks.Look, group: pd.DataFrame) -> tuple[float, looks.Look, bool]:
    """Return where the line of a method ends at the right, and whether it has a proof."""
    means = group.sort_values("epsilon")["mean"].dropna()
    last = means.iloc[-1] if len(means) else ax.get_ylim()[0]
    private = group[np.isfinite(group["epsilon"])]
    return last, look, bool(private["certified"].all())


def _explain(figure: Figure, study: dict, cells: pd.DataFrame) -> None:
    private = cells[np.isfinite(cells["epsilon"])]
    handles = [
        *keys.proof(private["certified"]),
        *keys.seeds(cells["n"]),
        *keys.printed(cells["printed"].map(bool).any(), _cells.reran(study, cells)),
    ]
    bars = "" if cells["low"].isna().all() else "; bars: 95 % intervals"
    text = f"{_context.about(study)} Marks: means over seeds{bars}{_failures.note(cells)}."
    text += _cells.shared(study, cells)
    style.note(figure, text, handles)


def _shows(study: dict, cells: pd.DataFrame) -> str:
    """Tell the means in words, the largest epsilon first."""
    parts = []
    for epsilon, own in cells.groupby("epsilon"):
        ranked = own.sort_values("mean", ascending=False)
        told = [f"{c['series']} {_cells.told(c)}" for _, c in ranked.iterrows()]
        parts.append(f"{style.epsilon_text(epsilon)}: {', '.join(told)}")
    return (
        f"Test accuracy in percent against ε on {datasets.of(study)}, a line per method. "
        + "; ".join(parts)
    )
