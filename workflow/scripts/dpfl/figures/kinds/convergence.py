"""Test accuracy against the round: a line per method, a panel per epsilon.

The line is the mean over the seeds that trained, the band reaches from the lowest to the highest of
them, where there are several; a run that the budget ended keeps its last accuracy. Runs that failed
are counted below. A dashed line has no proof of its epsilon. Above 80 % the axis is stretched
towards 100 %, where the methods differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from dpfl.figures import datasets, drawn, ends, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _rounds, _study
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
    figure, axes = style.panels(len(epsilons), COLUMNS, width=7, least=3.4, height=3.6)
    for ax, epsilon in zip(axes.flat, epsilons, strict=False):
        _panel(ax, means[means["epsilon"] == epsilon], known)
        counts = runs[runs["epsilon"] == epsilon].groupby("cell").size()
        ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(counts)}", loc="left")
    if means["mean"].max() > STRETCH_ABOVE:
        _stretch(axes[0, 0])
    style.finish(axes, len(epsilons), "round", "test accuracy, %")
    shown = epsilons[axes.shape[1] - 1]  # in the panel whose lines have their names beside them
    last = means.sort_values("epsilon", key=lambda own: own == shown, kind="stable")
    lines = means.drop_duplicates("series").set_index("series")["method"]
    named = [(name, known[m], last[last["series"] == name]) for name, m in lines.items()]
    ends.name(axes[0, -1], named, len(axes))
    _explain(figure, study, runs)
    finding = findings.leading(runs, study.get("focus"))
    return drawn.titled(figure, means, finding, _shows(study, means))


def _means(study: dict, runs_dir: Path, runs: pd.DataFrame) -> pd.DataFrame:
    """Return mean, lowest and highest accuracy of each line and round, over runs that trained."""
    rounds = _rounds.of_trained(study, runs_dir, runs, KEYS, "test_accuracy")
    groups = (100 * rounds["test_accuracy"]).groupby(
        [rounds[k] for k in [*KEYS, "round"]], sort=False
    )
    return groups.agg(mean="mean", min="min", max="max", n="size").reset_index()


def _panel(ax: Axes, means: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    apart = max(1, means["round"].max() // 4)
    groups = [g for m in known for g in means[means["method"] == m].groupby("series", sort=False)]
    for index, (series, line) in enumerate(groups):
        look = known[line["method"].iloc[0]]
        every = {"markevery": (index % apart, apart)}
        proven = bool(line["certified"].all())
        ax.plot(line["round"], line["mean"], label=series, **look.line(proven) | every)
        if line["n"].max() > 1:
            band = {"color": look.colour, "alpha": 0.12, "linewidth": 0}
            ax.fill_between(line["round"], line["min"], line["max"], **band)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _stretch(ax: Axes) -> None:
    """Draw accuracy by the logarithm of what is missing, so that 98 and 99 % stand apart."""
    ax.set_yscale("function", functions=(lambda a: -np.log(103 - a), lambda y: 103 - np.exp(-y)))
    ax.yaxis.set_major_locator(FixedLocator(TICKS))
    ax.yaxis.set_major_formatter("{x:g}")


def _explain(figure: Figure, study: dict, runs: pd.DataFrame) -> None:
    lost = runs[~runs["trained"]].groupby("series", sort=False).size()
    told = "; ".join(f"{name}: {count}" for name, count in lost.items())
    failed = f" Not drawn, {_cells.FAILED}: {told}." if told else ""
    several = runs.groupby("cell").size().max() > 1
    band = " Lines: means over seeds; bands: lowest to highest seed." * bool(several)
    proofs = keys.proof(runs.loc[np.isfinite(runs["epsilon"]), "certified"])
    style.note(figure, f"{_study.about(study)}{band}{failed}", proofs)


def _shows(study: dict, means: pd.DataFrame) -> str:
    last = means.groupby(["epsilon", "series"], sort=False).last().reset_index()
    told = style.by_epsilon(last, lambda row: f"{row['series']} {row['mean']:.1f}")
    name = datasets.title(study["dataset"])
    return (
        f"Test accuracy in percent against the round on {name}, a line per method. "
        f"After the last round, {told}"
    )
