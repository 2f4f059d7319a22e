"""Sentences computed from the tables, so that no sentence can contradict a number.

Every function returns plain text, or a list of it, from tables as `reader` reads them.
"""

import numpy as np
import pandas as pd

from dpfl.figures import datasets
from dpfl.papers.datasets import base
from dpfl.seeds import outcomes
from dpfl.tables import results
from dpfl.words import cell_words
from dpfl.words.forms import listed, setting
from dpfl.words.numerals import counted, known


def scope(study: dict, cells: pd.DataFrame) -> str:
    """Say what a study ran."""
    runs = len({run for cell in study["cells"] for run in cell["runs"]})
    settings = sorted(cells["epsilon"].unique())
    private = [f"{e:g}" for e in settings if np.isfinite(e)]
    unit = " per client" * (set(cells["unit"]) == {"client"})
    where = [f"at ε = {listed(private)}{unit}"] if private else []
    where += ["without privacy"] if np.isinf(settings).any() else []
    low, high = cells["n"].min(), cells["n"].max()
    seeds = f"n = {low:g}" if low == high else f"n = {low:g} to {high:g}"
    return (
        f"{counted(cells['method'].nunique(), 'method')} on {datasets.of(study)} "
        f"{listed(where)}: {counted(len(cells), 'cell')} from {counted(runs, 'run')}; "
        f"n counts seeds per cell, here {seeds}."
    )


def accuracy(cells: pd.DataFrame) -> list[str]:
    """Say, for each privacy setting, which cells have the highest and lowest mean."""
    lines = []
    for epsilon, group in cells.groupby("epsilon"):
        if len(group) > 1:
            lines.append(f"{setting(epsilon)}: {_extremes(group)}")
    return lines


def variants(cells: pd.DataFrame) -> list[str]:
    """Say, for each method and privacy setting, how much the variants differ."""
    lines = []
    for (method, epsilon), group in cells.groupby(["method", "epsilon"], sort=False):
        if len(group) > 1:
            lines.append(f"{method}, {setting(epsilon)}: {_extremes(group, 'variant')}")
    return lines


def divergence(study: dict, cells: pd.DataFrame) -> str:
    """Say how many runs diverged or failed, and where; each run is told once."""
    cells = cells.iloc[[group[0] for group in results.same_runs(study)]]
    total = counted(int(cells["n"].sum()), "run")
    infinite = _places(cells, "diverged")
    said = (
        f"The loss was not finite at some round in {infinite[0]} of {total}: {infinite[1]}."
        if infinite[0]
        else f"The loss stayed finite in all of the {total}."
    )
    lost = _places(cells.assign(failed=cells["n"] - cells["trained"]), "failed")
    if not lost[0]:
        return said
    return (
        f"{said} {lost[0]} of {total} failed, at chance level or more than {outcomes.FAR:g} points "
        f"under the median of those that trained: {lost[1]}. Means and comparisons are of those "
        "that trained."
    )


def _places(cells: pd.DataFrame, column: str) -> tuple[int, str]:
    """Return how many runs a column counts, and in which cells."""
    bad = cells[cells[column] > 0]
    found = [
        f"{row[column]:g} of {row['n']:g} {name_of(row)} at {setting(row['epsilon'])}"
        for _, row in bad.iterrows()
    ]
    return int(bad[column].sum()), listed(found) if found else ""


def regimes(cells: pd.DataFrame) -> list[str]:
    """Say which bound clips the rates of each cell that has bounds, as predicted and measured."""
    lines = []
    bounded = cells["method"].isin(cells.loc[cells["regime"] != "", "method"])
    for _, row in cells[bounded & cells["clipped_below"].notna()].iterrows():
        predicted = f"r = {row['r']:.2g}, predicted regime: {row['regime']}; " * bool(row["regime"])
        clipped = (
            "no coordinate was clipped at any recorded step"
            if row["clipped_below"] == row["clipped_above"] == 0
            else f"on average {row['clipped_below']:.1%} of the coordinates were raised to the "
            f"lower bound and {row['clipped_above']:.1%} cut to the upper one"
        )
        lines.append(f"{name_of(row)}, {setting(row['epsilon'])}: {predicted}{clipped}.")
    return lines


def anchors(cells: pd.DataFrame, published: pd.DataFrame) -> list[str]:
    """Set the best certified mean beside accuracies that other papers print at the same (ε, δ).

    They protect an example, so cells that protect whole clients are left out.
    """
    lines = []
    proven = cells["eps_certified"].notna() & (cells["unit"] == "example")
    best = cells[proven].sort_values("accuracy_mean")
    best = best.assign(dataset=best["dataset"].map(base))
    best = best.groupby(["dataset", "epsilon", "delta"]).tail(1)
    for _, anchor in published.iterrows():
        keys = ["dataset", "epsilon", "delta"]
        same = best[(best[keys] == anchor[keys]).all(axis=1)]
        for _, row in same.iterrows():
            gap = row["accuracy_mean"] - anchor["accuracy"]
            word = "above" if gap > 0 else "below"
            lines.append(
                f"ε = {row['epsilon']:g}: {anchor['model']} {anchor['accuracy']:.2f} % "
                f"({anchor['source']}); best certified mean here {row['accuracy_mean']:.2f} % "
                f"({name_of(row)}, n = {row['n']:g}), {abs(gap):.2f} points {word}."
            )
    return lines


def name_of(row: pd.Series) -> str:
    """Return the name of a cell: its method, its variant if it has one, and a missing proof."""
    label = cell_words.label(row)
    return f"{label} ({row['variant']})" if row["variant"] else label


def _extremes(group: pd.DataFrame, name: str = "") -> str:
    """Compare the highest with the lowest mean of some cells."""
    ranked = group.sort_values("accuracy_mean", kind="stable")
    low, high = ranked.iloc[0], ranked.iloc[-1]
    called = (lambda row: row[name] or "default") if name else name_of
    gap = high["accuracy_mean"] - low["accuracy_mean"]
    return (
        f"highest mean {called(high)}, {percent(high)}; lowest {called(low)}, {percent(low)}; "
        f"{gap:.1f} points apart, {overlap(low, high)}."
    )


def percent(row: pd.Series) -> str:
    """Return a cell's accuracy in running text."""
    return cell_words.mean_and_interval(row).replace(" (", " % (", 1).replace("(n=", "(n = ")


def overlap(low: pd.Series, high: pd.Series) -> str:
    """Say whether the intervals of a lower and a higher mean overlap."""
    if not (known(low["ci_high"]) and known(high["ci_low"])):
        return "without two intervals to compare"
    return "intervals overlap" if low["ci_high"] >= high["ci_low"] else "intervals do not overlap"
