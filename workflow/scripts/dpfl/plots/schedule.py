"""What each budget strategy does, round by round: noise multiplier, epsilon spent, test accuracy.

A line per strategy, the mean over seeds; the band of the accuracy reaches from the lowest to the
highest seed. A line that ends early has no budget left; the dotted line is the budget. Round 0 has
no noise. A row per epsilon; grey is training without privacy, if the study has it.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from dpfl.figures import style
from dpfl.tables import results

PANELS = {
    "noise_multiplier": r"noise multiplier $\sigma_t$",
    "epsilon_spent": "ε spent",
    "accuracy": "test accuracy, %",
}
GREY = "0.55"


def draw(study: dict, runs_dir: Path) -> Figure:
    """Draw the figure from the metrics of a study's runs."""
    metrics = style.named(results.trajectories(study, runs_dir, "metrics"))
    metrics = metrics.assign(series=_names(metrics), accuracy=100 * metrics["test_accuracy"])
    private = metrics[np.isfinite(metrics["epsilon"])]
    if not private["noise_multiplier"].notna().any():
        return style.nothing(f"{study['title']}: no run recorded its noise")
    free = metrics[np.isinf(metrics["epsilon"])]
    epsilons = sorted(private["epsilon"].unique())
    figure, axes = style.canvas(len(epsilons), 3, panel=(3.7, 3.0), sharex=True)
    looks = style.numbered(private["series"])
    for row, epsilon in zip(axes, epsilons, strict=True):
        own = private[private["epsilon"] == epsilon]
        _row(row, own, looks, free)
        row[0].set_title(style.epsilon_text(epsilon), loc="left")
    for ax in axes[1:, 2]:
        ax.sharey(axes[0, 2])
    for ax, label in zip(axes.T, PANELS.values(), strict=True):
        ax[-1].set_xlabel("round")
        for panel in ax:
            panel.set_ylabel(label)
    counts = private.groupby(["series", "epsilon"])["seed"].nunique()
    style.title(
        figure,
        f"{study['title']}\n{study['dataset']}, mean over seeds ({style.seeds_text(counts)}), "
        "band from the lowest to the highest seed",
    )
    style.legend_below(figure, axes[0, 2])
    return figure


def _names(metrics: pd.DataFrame) -> pd.Series:
    """Return the name of each row's line: its variant, and its method if there are several."""
    several = metrics["method"].nunique() > 1 or (metrics["variant"] == "").all()
    return style.series_of(metrics) if several else metrics["variant"]


def _row(
    axes: list[Axes], own: pd.DataFrame, looks: dict[str, style.Look], free: pd.DataFrame
) -> None:
    """Draw the three panels of one epsilon."""
    apart = max(1, own["round"].max() // 5)
    for number, (series, lines) in enumerate(own.groupby("series", sort=False)):
        line = looks[series].line() | {"markevery": (number % apart, apart), "markersize": 5}
        by_round = lines.groupby("round")
        for ax, column in zip(axes, PANELS, strict=True):
            means = by_round[column].mean().dropna()
            ax.plot(means.index, means, label=series, **line)
        low, high = by_round["accuracy"].min(), by_round["accuracy"].max()
        axes[2].fill_between(
            low.index, low, high, color=looks[series].colour, alpha=0.12, linewidth=0
        )
    axes[1].axhline(own["epsilon"].iloc[0], color=GREY, linestyle=":", label="_budget")
    if len(free):
        means = free.groupby("round")["accuracy"].mean()
        axes[2].plot(means.index, means, color=GREY, linewidth=1.5, label="without privacy")
    axes[2].xaxis.set_major_locator(MaxNLocator(5, integer=True))
