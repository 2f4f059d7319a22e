"""Test accuracy by variant: a mark per method, a panel per epsilon.

A mark is the mean over the seeds that trained, a dot one seed, a bar the 95 % Student interval,
none below three seeds. All panels share one frame, which cuts intervals that are very wide. Runs
that failed stand as a count at the left edge, and so do means far below all others, with an arrow.
A hollow mark has no proof of its epsilon, a black diamond is a number that the paper prints. Where
several settings vary, the first of them has panels of its own.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import datasets, drawn, families, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _context, _facets, _failures, _frame
from dpfl.tables import results

DODGE = 0.7
ASIDE = 0.3
"""Share of a mark's place by which the seeds stand below it."""
LETTER = 0.085  # width in inches of a letter of a tick's name
LINE = 0.17
"""Height of one mark's line, inches."""


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study; a column per epsilon, a row per facet."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(series=_series(study, runs), facet=_facets.of(study, runs))
    cells = _cells.of(study, runs, ["method", "series", "variant", "epsilon", "facet"])
    cells = cells.assign(tick=[_facets.tick(study, cell) for cell in cells["cell"]])
    known = _looks(study, cells)
    figure, axes = _canvas(cells)
    for row, (_, facet) in zip(axes, cells.groupby("facet", sort=False), strict=True):
        for ax, epsilon in zip(row, sorted(cells["epsilon"].unique()), strict=True):
            own = facet[facet["epsilon"] == epsilon]
            _panel(ax, own, _ticks(facet), _frame.floor(cells["mean"]), known)
            ax.set_title(_title(facet, own, epsilon), loc="left")
    _limit(axes, cells)
    for ax in axes[-1]:
        ax.set_xlabel("test accuracy, %")
    _explain(figure, study, cells, known)
    finding = findings.leading(runs, study.get("focus"))
    return drawn.told(figure, _cells.written(cells), finding, _shows(study, cells))


def _series(study: dict, runs: pd.DataFrame) -> list[str]:
    """Return what a run's cell is called: its method where there are several, and its setting."""
    methods = style.names(runs.assign(variant=""))
    several = runs["method"].nunique() > 1 or methods.nunique() > 1
    facets = [families.title(facet) for facet in _facets.of(study, runs)]
    ticks = [_facets.tick(study, cell) for cell in runs["cell"]]
    parts = zip(methods if several else [""] * len(runs), facets, ticks, strict=True)
    return [", ".join(filter(None, part)) for part in parts]


def _canvas(cells: pd.DataFrame) -> tuple[Figure, np.ndarray]:
    """Return a figure whose rows are as high as their facets have ticks."""
    columns, lines = cells["epsilon"].nunique(), 0.14 + LINE * cells["method"].nunique()
    ticks = [len(_ticks(own)) for _, own in cells.groupby("facet", sort=False)]
    below = 1.5 + 0.12 * cells["method"].nunique()
    height = below / len(ticks) + max(0.3, lines) * sum(ticks) / len(ticks) + 0.3
    names = LETTER * cells["tick"].str.len().max()
    width = max(2.0, 6.6 / columns) + names / columns
    ratios = {"height_ratios": ticks}
    return style.canvas(
        len(ticks), columns, panel=(width, height), sharey="row", sharex=True, gridspec_kw=ratios
    )


def _ticks(cells: pd.DataFrame) -> list[str]:
    return list(dict.fromkeys(cells["tick"]))


def _title(facet: pd.DataFrame, own: pd.DataFrame, epsilon: float) -> str:
    name = facet["facet"].iloc[0]
    counts = f", {style.seeds_text(own['n'])}" if len(own) else ""
    return ", ".join(filter(None, [families.title(name), style.epsilon_text(epsilon)])) + counts


def _looks(study: dict, cells: pd.DataFrame) -> dict[tuple[str, str], looks.Look]:
    """Return the look of each method in each facet: the facet's own, if it has a family."""
    known = looks.of_study(study)
    pairs = cells[["method", "facet"]].drop_duplicates().itertuples(index=False)
    found = {(m, facet): looks.of_method(facet) or known[m] for m, facet in pairs}
    order = list(known)
    return dict(sorted(found.items(), key=lambda item: order.index(item[0][0])))


def _panel(ax: Axes, cells: pd.DataFrame, ticks: list[str], floor: float, known: dict) -> None:
    methods = [m for m in dict.fromkeys(m for m, _ in known) if m in set(cells["method"])]
    offsets = DODGE * (np.arange(len(methods)) + 0.5 - len(methods) / 2) / max(len(methods), 1)
    for method, offset in zip(methods, offsets, strict=True):
        for _, cell in cells[cells["method"] == method].iterrows():
            look = known[method, cell["facet"]]
            height = ticks.index(cell["tick"]) + offset
            _mark(ax, cell, height, floor, look, ASIDE * DODGE / len(methods))
    ax.set_yticks(range(len(ticks)), [style.literal(tick) for tick in ticks])
    ax.set_ylim(len(ticks) - 0.5, -0.5)
    for edge in np.arange(len(ticks) - 1) + 0.5:
        ax.axhline(edge, color="0.85", linewidth=0.8, zorder=0)
    ax.grid(visible=False, axis="y")


def _mark(
    ax: Axes, cell: pd.Series, y: float, floor: float, look: looks.Look, aside: float
) -> None:
    """Draw one cell: its mean or that it left the frame, interval, seeds, and what is printed."""
    _failures.at_left(ax, y, cell, look)
    if len(cell["seeds"]) > 1:
        dots = {"color": look.colour, "label": "_seeds", **keys.DOT}
        ax.plot(cell["seeds"], [y + aside] * len(cell["seeds"]), **dots)
    for value, rerun in _cells.diamonds(cell):
        ax.plot([value], [y], label="_printed", **look.printed(rerun))
    if cell["mean"] < floor:
        return _beyond(ax, cell, y, look)
    if cell["trained"]:
        keywords = look.mark(cell["certified"]) | {"label": cell["method"], "zorder": 4}
        ax.plot([cell["mean"]], [y], **keywords)
    if not np.isnan(cell["low"]):
        ax.errorbar(cell["mean"], y, xerr=cell["high"] - cell["mean"], ecolor=look.colour)
    return None


def _beyond(ax: Axes, cell: pd.Series, y: float, look: looks.Look) -> None:
    """Mark a mean that lies below the frame at its left edge."""
    ax.annotate(
        f"{cell['mean']:.1f}",
        (0, y),
        (0.16 if _failures.text(cell) else 0.09, y),
        xycoords=("axes fraction", "data"),
        arrowprops={"arrowstyle": "->", "color": look.colour},
        fontsize=style.SMALL,
        va="center",
        color=look.colour,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1},
    )


def _limit(axes: np.ndarray, cells: pd.DataFrame) -> None:
    """Give all panels one frame."""
    shown = np.array([ax.get_xlim() for ax in axes.flat])
    ends = shown[:, 0].min(), shown[:, 1].max()
    axes[0, 0].set_xlim(_frame.limits(_cells.means_and_printed(cells), ends))


def _explain(figure: Figure, study: dict, cells: pd.DataFrame, known: dict) -> None:
    private = cells[np.isfinite(cells["epsilon"])]
    methods = {m: look for (m, _), look in known.items()}
    proven = private.groupby("method")["certified"].all()
    named = [
        keys.method(families.title(m), look, bool(proven.get(m, True)))
        for m, look in methods.items()
    ]
    handles = [
        *(named if len(named) > 1 else []),
        *keys.proof(private["certified"], line=False),
        *keys.seeds(cells["n"]),
        *keys.printed(cells["printed"].map(bool).any(), _cells.reran(study, cells)),
    ]
    bars = "" if cells["low"].isna().all() else "; bars: 95 % intervals"
    beside = f" In all of it: {fixed}." if (fixed := _facets.fixed(study)) else ""
    text = f"{_context.about(study)}{beside} Marks: means over seeds{bars}{_failures.note(cells)}."
    text += _cells.shared(study, cells)
    style.note(figure, text, handles)


def _shows(study: dict, cells: pd.DataFrame) -> str:
    parts = []
    for epsilon, own in cells.groupby("epsilon"):
        told = [f"{c['series']} {_cells.told(c)}" for _, c in own.iterrows()]
        parts.append(f"{style.epsilon_text(epsilon)}: {'; '.join(told)}")
    return f"Test accuracy in percent on {datasets.of(study)}, by variant. " + ". ".join(parts)
