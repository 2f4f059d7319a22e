"""Test accuracy against epsilon: a line per method, or of one epsilon alone a row per method.

A mark is the mean over the seeds that trained, a dot one seed, a bar the 95 % Student interval,
none below three seeds; the frame cuts bars that are very wide. Runs that failed are counted at the
low edge. There too are means far below all others, with an arrow. A hollow mark has no proof of its
epsilon, a black diamond is a number that the paper prints.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dpfl.figures import datasets, drawn, ends, findings, looks, style
from dpfl.figures.kinds import _cells, _study, variants
from dpfl.tables import results


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the runs of a study."""
    runs = _study.distinct(study, results.frame(study, runs_dir))
    if runs["epsilon"].nunique() == 1:
        return variants.draw(study, runs_dir)
    named = runs if runs["variant"].nunique() > 1 else runs.assign(variant="")
    runs = runs.assign(series=style.names(named, runs["cell"].map(_study.titles(study))))
    cells = _cells.measured(study, runs, ["method", "series", "epsilon"])
    figure, axes = style.canvas(panel=(8.4, max(4.6, 1.6 + 0.19 * cells["series"].nunique())))
    ax, known = axes[0, 0], looks.of_study(study)
    epsilons = sorted(cells["epsilon"].unique())
    ranked = cells.sort_values("epsilon", kind="stable")
    lines = [
        (series, known[method], line)
        for method in known
        for series, line in ranked[ranked["method"] == method].groupby("series", sort=False)
    ]
    places, aside = _cells.places(len(lines))
    frame = _cells.Frame(floor=_cells.floor(cells["mean"]), aside=aside)
    for (series, look, line), place in zip(lines, places, strict=True):
        x = line["epsilon"].map(epsilons.index) + place
        private = line[np.isfinite(line["epsilon"]) & (line["mean"] >= frame.floor)]
        join = look.line(bool(private["certified"].all())) | {"marker": "", "linewidth": 1.2}
        ax.plot(x[private.index], private["mean"], label="_line", alpha=0.6, **join)
        for at, (_, cell) in zip(x, line.iterrows(), strict=True):
            _cells.draw(ax, cell, at, look, series, frame)
    _label(ax, cells, epsilons)
    ends.name(ax, lines)
    _cells.note(figure, study, cells, beside=_study.alike(study))
    finding = findings.leading(runs, study["margin"], study.get("focus"))
    return drawn.titled(figure, cells.drop(columns="cell"), finding, _shows(study, cells))


def _label(ax: Axes, cells: pd.DataFrame, epsilons: list[float]) -> None:
    counts = [style.seeds_text(cells.loc[cells["epsilon"] == e, "n"]) for e in epsilons]
    names = ["non-private" if np.isinf(e) else f"{e:g}" for e in epsilons]
    ticks = [f"{name}\n{count}" for name, count in zip(names, counts, strict=True)]
    ax.set_xticks(range(len(epsilons)), ticks)
    ax.set_xlim(-0.5, len(epsilons) - 0.5)
    style.separate(ax.axvline, len(epsilons))
    ax.grid(visible=False, axis="x")
    ax.set_ylim(_cells.limits(cells, ax.get_ylim()))
    ax.set(xlabel="privacy budget ε", ylabel="test accuracy, %")


def _shows(study: dict, cells: pd.DataFrame) -> str:
    """Tell the means in words, the best first."""
    told = style.by_epsilon(cells.sort_values("mean", ascending=False), _cells.words)
    name = datasets.title(study["dataset"])
    return f"Test accuracy in percent against ε on {name}, a line per method. {told}"
