"""What each division of a budget does, round by round: epsilon spent, and noise multiplier.

A line per division, the mean over the seeds that trained: of noise over those still training, of
epsilon over all, also over those that have ended. A line that ends early has no budget left; the
dotted line is the budget. Round 0 has no noise. Dashed and hollow: no proof of epsilon. A row per
epsilon. What they reach stands in other figures.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.ticker import MaxNLocator

from dpfl.figures import datasets, drawn, ends, keys, looks, style
from dpfl.figures.kinds import _cells, _rounds, _study
from dpfl.tables import results

PANELS = {"epsilon_spent": "ε spent", "noise_multiplier": r"noise multiplier $\sigma_t$"}
GREY = "0.55"


def draw(study: dict, runs_dir: Path) -> drawn.Drawn:
    """Draw the figure from the metrics of a study's runs."""
    runs = results.frame(study, runs_dir)
    private = runs.assign(series=_names(study, runs))[np.isfinite(runs["epsilon"])]
    line = ["series", "epsilon", "certified"]
    rounds = _rounds.of_trained(study, runs_dir, private, line, "epsilon_spent")
    means = rounds.groupby([*line, "round"], sort=False)[list(PANELS)].mean().reset_index()
    if not means["noise_multiplier"].notna().any():
        return drawn.nothing(f"{study['title']}: no run recorded its noise")
    epsilons = sorted(means["epsilon"].unique())
    figure, axes = style.canvas(len(epsilons), 2, panel=(4.2, 3.0), sharex=True)
    known = looks.numbered(private["series"])
    for row, epsilon in zip(axes, epsilons, strict=True):
        _lines(row, means[means["epsilon"] == epsilon], known, len(axes))
        row[0].axhline(epsilon, color=GREY, linestyle=":", label="_budget")
        row[0].set_title(style.epsilon_text(epsilon), loc="left")
    for ax in axes[-1]:
        ax.set_xlabel("round")
    lost = f" {_cells.FAILED.capitalize()} are in no mean." * bool((~private["trained"]).any())
    counts = f" Lines: {style.seeds_text(private.groupby('cell').size())}."
    style.note(figure, f"{_study.about(study)}{counts}{lost}", keys.proof(private["certified"]))
    own = means.dropna(subset=["noise_multiplier"])
    told = style.by_epsilon(own.drop_duplicates(["series", "epsilon"]), _span(own))
    shows = f"ε spent and noise multiplier by round, on {datasets.title(study['dataset'])}"
    return drawn.titled(figure, means, f"Noise of the first and the last round, {told}", shows)


def _names(study: dict, runs: pd.DataFrame) -> pd.Series:
    """Return the name of each row's line: its variant, and its method if there are several."""
    if runs["method"].nunique() > 1 or (runs["variant"] == "").all():
        return style.names(runs)
    variants = [study["cells"][cell]["variant"] for cell in runs["cell"]]
    rest = [results.variant_text(variant, without="budget") for variant in variants]
    pairs = ((own.get("budget", ""), text) for own, text in zip(variants, rest, strict=True))
    return pd.Series([", ".join(filter(None, pair)) for pair in pairs], runs.index)


def _lines(axes: np.ndarray, own: pd.DataFrame, known: dict[str, looks.Look], rows: int) -> None:
    """Draw the spending and the noise of one epsilon."""
    apart = max(1, own["round"].max() // 5)
    groups = list(own.groupby("series", sort=False))
    for ax, (column, label) in zip(axes, PANELS.items(), strict=True):
        for number, (series, line) in enumerate(groups):
            drawn_as = known[series].line(bool(line["certified"].all()))
            drawn_as |= {"markevery": (number % apart, apart), "markersize": 5}
            there = line.dropna(subset=[column])
            ax.plot(there["round"], there[column], label=series, **drawn_as)
        ax.set_ylabel(label)
        ax.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    last = [(s, known[s], line.rename(columns={"noise_multiplier": "mean"})) for s, line in groups]
    ends.name(axes[1], last, rows)


def _span(noise: pd.DataFrame) -> Callable[[pd.Series], str]:
    """Return what tells the first and the last noise multiplier of a row's line."""
    groups = noise.groupby(["series", "epsilon"])["noise_multiplier"]
    first, last = groups.first(), groups.last()

    def told(row: pd.Series) -> str:
        at = (row["series"], row["epsilon"])
        return f"{row['series']} {first[at]:.2f} and {last[at]:.2f}"

    return told
