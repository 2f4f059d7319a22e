"""Test accuracy by variant, or by method where nothing else varies: a panel per epsilon.

A mark is the mean over the seeds that trained, a dot one seed, a bar the 95 % Student interval,
none below three seeds. All panels share one frame, which cuts intervals that are very wide. Runs
that failed are counted at the left edge. There too are means far below all others, with an arrow.
A hollow mark has no proof of its epsilon, a black diamond is a number that the paper prints. Where
several settings vary, the first of them has panels of its own.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from dpfl.figures import datasets, drawn, families, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _study
from dpfl.tables import results

LETTER = 0.085  # width in inches of a letter of a tick's name
LINE = 0.17
"""Height of one mark's line, inches."""


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study; a column per epsilon, a row per facet."""
    runs = _named(study, results.frame(study, runs_dir))
    columns = ["method", "series", "variant", "epsilon", "facet", "tick"]
    cells = _cells.measured(study, runs, columns)
    known = _looks(study, cells)
    floor = _cells.floor(cells["mean"])
    figure, axes = _canvas(cells)
    for row, (facet, own) in zip(axes, cells.groupby("facet", sort=False), strict=True):
        for ax, epsilon in zip(row, sorted(cells["epsilon"].unique()), strict=True):
            here = own[own["epsilon"] == epsilon]
            _panel(ax, here, own["tick"].unique(), floor, known)
            counts = style.seeds_text(here["n"]) if len(here) else ""
            parts = (families.title(facet), style.epsilon_text(epsilon), counts)
            ax.set_title(", ".join(filter(None, parts)), loc="left")
    shown = np.array([ax.get_xlim() for ax in axes.flat])
    axes[0, 0].set_xlim(_cells.limits(cells, (shown.min(), shown.max())))
    style.finish(axes, axes.size, "test accuracy, %", "")
    fixed = f" In all of it: {told}." if (told := _study.fixed(study)) else ""
    alike = "" if results.varied(study) else _study.alike(study)
    _cells.note(figure, study, cells, _methods(cells, known), fixed + alike)
    finding = findings.leading(runs, study["margin"], study.get("focus"))
    told = style.by_epsilon(cells, _cells.words)
    by = "variant" if results.varied(study) else "method"
    shows = f"Test accuracy in percent on {datasets.title(study['dataset'])}, by {by}. {told}"
    return drawn.titled(figure, cells.drop(columns="cell"), finding, shows)


def _named(study: dict, runs: pd.DataFrame) -> pd.DataFrame:
    """Add the panel and the tick of each run, and what its cell is called.

    That is its method where there are several, and its setting; the tick is the method where
    nothing else varies.
    """
    if not results.varied(study):
        runs = _study.distinct(study, runs)
        names = style.names(runs, runs["cell"].map(_study.titles(study)))
        return runs.assign(facet="", tick=names, series=names)
    facet, tick = ([told(study, c) for c in runs["cell"]] for told in (_study.facet, _study.tick))
    methods = style.names(runs.assign(variant=""))
    shown = methods if methods.nunique() > 1 else [""] * len(runs)
    parts = zip(shown, map(families.title, facet), tick, strict=True)
    series = [", ".join(filter(None, part)) for part in parts]
    return runs.assign(facet=facet, tick=tick, series=series)


def _canvas(cells: pd.DataFrame) -> tuple[Figure, np.ndarray]:
    """Return a figure whose rows are as high as their facets have ticks."""
    methods, columns = _marks(cells), cells["epsilon"].nunique()
    ticks = cells.groupby("facet", sort=False)["tick"].nunique().tolist()
    lines = max(0.3, 0.14 + LINE * methods) * sum(ticks)
    height = (1.5 + 0.12 * methods + lines) / len(ticks) + 0.3
    width = max(2.0, 6.6 / columns) + LETTER * cells["tick"].str.len().max() / columns
    shared = {"sharey": "row", "sharex": True, "height_ratios": ticks}
    return style.canvas(len(ticks), columns, panel=(width, height), **shared)


def _marks(cells: pd.DataFrame) -> int:
    """Return how many marks stand at one tick, at most."""
    return cells.groupby(["facet", "tick", "epsilon"]).size().max()


def _looks(study: dict, cells: pd.DataFrame) -> dict[tuple[str, str], looks.Look]:
    """Return the look of each method in each facet: the facet's own, if it has a family."""
    known = looks.of_study(study)
    pairs = dict.fromkeys(zip(cells["method"], cells["facet"], strict=True))
    order = sorted(pairs, key=lambda pair: list(known).index(pair[0]))
    return {(m, facet): looks.of_method(facet) or known[m] for m, facet in order}


def _panel(ax: Axes, cells: pd.DataFrame, ticks: np.ndarray, floor: float, known: dict) -> None:
    most = cells.groupby("tick").size().max()
    for at, tick in enumerate(ticks):
        own = cells[cells["tick"] == tick]
        places = _cells.places(len(own))[0]
        frame = _cells.Frame(across=True, floor=floor, aside=_cells.places(most)[1])
        for place, (_, cell) in zip(places, own.iterrows(), strict=True):
            look = known[cell["method"], cell["facet"]]
            _cells.draw(ax, cell, at + place, look, cell["method"], frame)
    ax.set_yticks(range(len(ticks)), map(style.literal, ticks))
    ax.set_ylim(len(ticks) - 0.5, -0.5)
    style.separate(ax.axhline, len(ticks))
    ax.grid(visible=False, axis="y")


def _methods(cells: pd.DataFrame, known: dict) -> list[Artist]:
    """Name the methods by their marks, where a tick has several."""
    private = cells[np.isfinite(cells["epsilon"])]
    proven = private.groupby("method")["certified"].all()
    own = {method: look for (method, _), look in known.items()}
    named = [keys.method(families.title(m), own[m], bool(proven.get(m, True))) for m in own]
    return named if _marks(cells) > 1 else []
