"""Test accuracy against the round: a line per method, a panel per epsilon.

The line is the mean over the seeds that trained, the band reaches from the lowest to the highest of
them, where there are several; a run that the budget ended keeps its last accuracy. Runs that failed
are counted below. A dashed line has no proof of its
epsilon. Above 80 % the axis is stretched towards 100 %, where the methods differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from dpfl.figures import datasets, drawn, ends, findings, keys, looks, style
from dpfl.figures.kinds import _context, _failures, _rounds
from dpfl.seeds import outcomes
from dpfl.tables import results

COLUMNS = 3
STRETCH_ABOVE = 80
TICKS = (10, 50, 70, 80, 90, 95, 98)
KEYS = ["method", "series", "epsilon", "certified"]


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the metrics of a study's runs."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(series=style.names(runs))
    known = looks.of_study(study)
    means = _means(study, runs_dir, runs)
    if means.empty:
        return drawn.nothing(f"{study['title']}: no run trained")
    epsilons = sorted(means["epsilon"].unique())
    columns = min(COLUMNS, len(epsilons))
    rows = -(-len(epsilons) // columns)
    figure, axes = style.canvas(
        rows, columns, panel=(max(3.4, 7 / columns), 3.6), sharey=True, sharex=True
    )
    for ax, epsilon in zip(axes.flat, epsilons, strict=False):
        _panel(ax, means[means["epsilon"] == epsilon], known)
        counts = runs[runs["epsilon"] == epsilon].groupby("cell").size()
        ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(counts)}", loc="left")
    if means["mean"].max() > STRETCH_ABOVE:
        _stretch(axes[0, 0])
    style.finish(axes, len(epsilons), "round", "test accuracy, %")
    _names(axes[0, -1], means, epsilons[columns - 1], known, rows)
    _explain(figure, study, runs)
    finding = findings.leading(runs, study.get("focus"))
    return drawn.told(figure, means, finding, _shows(study, means))


def _means(study: dict, runs_dir: Path, runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean, lowest and highest accuracy of each line and round, over runs that trained."""
    metrics = results.trajectories(study, runs_dir, "metrics")
    kept = outcomes.of_trained(runs)[["cell", "run", "series"]]
    metrics = metrics.merge(kept, on=["cell", "run"])
    metrics = metrics.assign(accuracy=100 * metrics["test_accuracy"])
    metrics = _rounds.carried(metrics, KEYS, ["accuracy"])
    groups = metrics.groupby([*KEYS, "round"], sort=False)["accuracy"]
    return groups.agg(["mean", "min", "max", "size"]).reset_index().rename(columns={"size": "n"})


def _panel(ax: Axes, means: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    apart = max(1, means["round"].max() // 4)
    groups = [g for m in known for g in means[means["method"] == m].groupby("series", sort=False)]
    for index, (series, line) in enumerate(groups):
        look = known[line["method"].iloc[0]]
        style_of_line = look.line(bool(line["certified"].all()))
        every = {"markevery": (index % apart, apart)}
        ax.plot(line["round"], line["mean"], label=series, **style_of_line | every)
        if line["n"].max() > 1:
            band = {"color": look.colour, "alpha": 0.12, "linewidth": 0}
            ax.fill_between(line["round"], line["min"], line["max"], **band)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _names(
    ax: Axes, means: pd.DataFrame, epsilon: float, known: dict[str, looks.Look], rows: int
) -> None:
    """Name all lines at the right of the first row, by where they end in its last panel."""
    found = {}
    for series, line in means.groupby("series", sort=False):
        here = line[line["epsilon"] == epsilon]
        last = here if len(here) else line
        private = line[np.isfinite(line["epsilon"])]
        proven = bool(private["certified"].all())
        found[series] = (last["mean"].iloc[-1], known[line["method"].iloc[0]], proven)
    ends.name(ax, found, rows)


def _explain(figure: Figure, study: dict, runs: pd.DataFrame) -> None:
    private = runs[np.isfinite(runs["epsilon"])]
    lost = runs[~runs["trained"]].groupby("series", sort=False).size()
    told = "; ".join(f"{name}: {count}" for name, count in lost.items())
    failed = f" Not drawn, {_failures.SHORT}: {told}." if told else ""
    several = runs.groupby("cell").size().max() > 1
    band = " Lines: means over seeds; bands: lowest to highest seed." * bool(several)
    style.note(figure, f"{_context.about(study)}{band}{failed}", keys.proof(private["certified"]))


def _shows(study: dict, means: pd.DataFrame) -> str:
    last = means.groupby(["epsilon", "series"], sort=False).last().reset_index()
    parts = []
    for epsilon, own in last.groupby("epsilon"):
        told = [f"{row['series']} {row['mean']:.1f}" for _, row in own.iterrows()]
        parts.append(f"{style.epsilon_text(epsilon)}: {', '.join(told)}")
    return (
        f"Test accuracy in percent against the round on {datasets.of(study)}, a line per method. "
        f"After the last round, {'; '.join(parts)}"
    )


def _stretch(ax: Axes) -> None:
    """Draw accuracy by the logarithm of what is missing, so that 98 and 99 % stand apart."""
    ax.set_yscale("function", functions=(lambda a: -np.log(103 - a), lambda y: 103 - np.exp(-y)))
    ax.yaxis.set_major_locator(FixedLocator(TICKS))
    ax.yaxis.set_major_formatter("{x:g}")
