"""Test accuracy against the round: a line per method, a panel per epsilon.

The line is the mean over seeds, the band reaches from the lowest to the highest seed. Above 80 %
the axis is stretched towards 100 %, where the methods differ.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, MaxNLocator

from dpfl.figures import style
from dpfl.tables import results

COLUMNS = 3
STRETCH_ABOVE = 80
TICKS = (10, 50, 70, 80, 90, 95, 98)


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the metrics of a study's runs."""
    metrics = style.named(results.trajectories(study, runs_dir, "metrics"))
    metrics = metrics.assign(series=style.series_of(metrics), accuracy=100 * metrics.test_accuracy)
    epsilons = sorted(metrics["epsilon"].unique())
    columns = min(COLUMNS, len(epsilons))
    rows = -(-len(epsilons) // columns)
    figure, axes = style.canvas(
        rows, columns, panel=(max(3.6, 7 / columns), 3.4), sharey=True, sharex=True
    )
    for ax, epsilon in zip(axes.flat, epsilons, strict=False):
        _panel(ax, metrics[metrics["epsilon"] == epsilon], epsilon, style.looks(study))
    if metrics["accuracy"].max() > STRETCH_ABOVE:
        _stretch(axes[0, 0])
    style.finish(axes, len(epsilons), "round", "test accuracy, %")
    style.title(
        figure,
        f"{study['title']}\n{study['dataset']}, mean over seeds, "
        "band from the lowest to the highest seed",
    )
    fullest = max(axes.flat[: len(epsilons)], key=lambda ax: len(ax.lines))
    style.legend_below(figure, fullest)
    return figure


def _panel(ax: Axes, metrics: pd.DataFrame, epsilon: float, looks: dict[str, style.Look]) -> None:
    apart = max(1, metrics["round"].max() // 4)
    drawn = set(metrics["method"])
    for index, method in enumerate(m for m in looks if m in drawn):
        own = metrics[metrics["method"] == method]
        for series, lines in own.groupby("series", sort=False):
            by_round = lines.groupby("round")["accuracy"].agg(["mean", "min", "max"])
            line = looks[method].line() | {"markevery": (index % apart, apart)}
            ax.plot(by_round.index, by_round["mean"], label=series, **line)
            ax.fill_between(
                by_round.index,
                by_round["min"],
                by_round["max"],
                color=looks[method].colour,
                alpha=0.12,
                linewidth=0,
            )
    seeds = metrics.groupby("series")["seed"].nunique()
    ax.set_title(f"{style.epsilon_text(epsilon)}, {style.seeds_text(seeds)}", loc="left")
    ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))


def _stretch(ax: Axes) -> None:
    """Draw accuracy by the logarithm of what is missing, so that 98 and 99 % stand apart."""
    ax.set_yscale("function", functions=(lambda a: -np.log(103 - a), lambda y: 103 - np.exp(-y)))
    ax.yaxis.set_major_locator(FixedLocator(TICKS))
    ax.yaxis.set_major_formatter("{x:g}")
