"""How far each method is from the first one of the study, round by round: a panel per epsilon.

A line is the mean difference in test accuracy, in points, over the seeds that trained with both.
The band reaches from the lowest to the highest of them, where there are several. Zero is the first
method, whose last accuracy is written over the panel. A run that the budget ended keeps its last
accuracy. Runs that failed are counted below. A dashed line has no proof of its epsilon. The frame
fits the later rounds: early in training a line may lie outside.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpfl.figures import datasets, drawn, ends, families, findings, keys, looks, style
from dpfl.figures.kinds import _cells, _rounds, _study
from dpfl.tables import results

COLUMNS = 3
EARLY = 0.25
"""The share of the rounds that the frame need not fit."""
KEYS = ["method", "series", "epsilon", "certified"]
PAIR = ["epsilon", "seed", "round"]


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the metrics of a study's runs."""
    runs = results.frame(study, runs_dir)
    runs = runs.assign(series=style.names(runs))
    known = looks.of_study(study)
    first = study["cells"][0]["method"]
    gaps = _gaps(study, runs_dir, runs, first)
    if gaps["series"].nunique() < 2:
        return drawn.nothing(f"{study['title']}: fewer than two methods trained")
    epsilons = sorted(gaps["epsilon"].unique())
    figure, axes = style.panels(len(epsilons), COLUMNS, width=7, least=2.9, height=3.6)
    for ax, epsilon in zip(axes.flat, epsilons, strict=False):
        own = gaps[gaps["epsilon"] == epsilon]
        _panel(ax, own, known)
        reached = f"{families.title(first)} ends at {own['base'].iloc[-1]:.1f} %"
        counts = style.seeds_text(own["n"])
        ax.set_title(f"{style.epsilon_text(epsilon)}, {counts}\n{reached}", loc="left")
    axes[0, 0].set_ylim(_limits(gaps))
    style.finish(axes, len(epsilons), "round", f"points against {families.title(first)}")
    shown = epsilons[axes.shape[1] - 1]  # in the panel whose lines have their names beside them
    last = gaps.sort_values("epsilon", key=lambda own: own == shown, kind="stable")
    lines = gaps.drop_duplicates("series").set_index("series")["method"]
    named = [(name, known[m], last[last["series"] == name]) for name, m in lines.items()]
    ends.name(axes[0, -1], named, len(axes))
    _explain(figure, study, runs)
    finding = findings.leading(runs, study["margin"], study.get("focus"))
    return drawn.titled(figure, gaps, finding, _shows(study, gaps, first))


def _gaps(study: dict, runs_dir: Path, runs: pd.DataFrame, first: str) -> pd.DataFrame:
    """Return mean, lowest and highest difference of each line and round, over pairs of seeds.

    `base` is the accuracy of the first method that these differences are from, in percent.
    """
    rounds = _rounds.of_trained(study, runs_dir, runs, KEYS, "test_accuracy")
    seeds = runs.drop_duplicates("run").set_index("run")["seed"]
    rounds = rounds.assign(seed=rounds["run"].map(seeds), accuracy=100 * rounds["test_accuracy"])
    base = rounds.loc[rounds["method"] == first, [*PAIR, "accuracy"]]
    pairs = rounds.merge(base.rename(columns={"accuracy": "base"}), on=PAIR)
    pairs = pairs.assign(gap=pairs["accuracy"] - pairs["base"])
    groups = pairs.groupby([*KEYS, "round"], sort=False)
    found = {how: ("gap", how) for how in ("mean", "min", "max")}
    return groups.agg(**found, n=("gap", "size"), base=("base", "mean")).reset_index()


def _panel(ax: Axes, gaps: pd.DataFrame, known: dict[str, looks.Look]) -> None:
    apart = max(1, gaps["round"].max() // 4)
    groups = [g for m in known for g in gaps[gaps["method"] == m].groupby("series", sort=False)]
    for index, (series, line) in enumerate(groups):
        look = known[line["method"].iloc[0]]
        every = {"markevery": (index % apart, apart)}
        proven = bool(line["certified"].all())
        ax.plot(line["round"], line["mean"], label=series, **look.line(proven) | every)
        if line["n"].max() > 1:
            band = {"color": look.colour, "alpha": 0.12, "linewidth": 0}
            ax.fill_between(line["round"], line["min"], line["max"], **band)
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _limits(gaps: pd.DataFrame) -> tuple[float, float]:
    """Return the ends of the axis: what the later rounds need, without lines far below all."""
    late = gaps[gaps["round"] >= EARLY * gaps["round"].max()]
    ended = gaps.groupby(["series", "epsilon"])["mean"].last()
    low, high = max(late["min"].min(), _cells.floor(ended)), late["max"].max()
    room = 0.08 * max(high - low, 1)
    return low - room, high + room


def _explain(figure: Figure, study: dict, runs: pd.DataFrame) -> None:
    lost = runs[~runs["trained"]].groupby("series", sort=False).size()
    told = "; ".join(f"{name}: {count}" for name, count in lost.items())
    failed = f" Not drawn, {_cells.FAILED}: {told}." if told else ""
    several = runs.groupby("cell").size().max() > 1
    band = " Lines: means over seeds; bands: lowest to highest seed." * bool(several)
    proofs = keys.proof(runs.loc[np.isfinite(runs["epsilon"]), "certified"])
    style.note(figure, f"{_study.about(study)}{band}{failed}", proofs)


def _shows(study: dict, gaps: pd.DataFrame, first: str) -> str:
    last = gaps.groupby(["epsilon", "series"], sort=False).last().reset_index()
    told = style.by_epsilon(last, lambda row: f"{row['series']} {row['mean']:+z.1f}")
    return (
        f"Test accuracy on {datasets.title(study['dataset'])} less that of "
        f"{families.title(first)}, in points against the round. After the last round, {told}"
    )
