"""Accuracy of each line less that of a baseline, paired by seed: points beside one line."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from dpfl.figures import findings, keys, style
from dpfl.figures.looks import Look
from dpfl.seeds import outcomes, pairing, verdicts


def baseline(study: dict, runs: pd.DataFrame) -> str | None:
    """Return the line that a study compares its others with, None if that is not one line."""
    wanted = study.get("baseline", {})
    cells = [
        number
        for number, cell in enumerate(study["cells"])
        if wanted and all(_value(cell, key) == value for key, value in wanted.items())
    ]
    found = runs.loc[runs["cell"].isin(cells), "series"].unique()
    return found[0] if len(found) == 1 else None


def gaps(runs: pd.DataFrame, base: str | None) -> pd.DataFrame:
    """Return a row per line and epsilon: mean, interval and seeds of its difference, in points.

    Without a baseline it is the accuracy itself, in percent.
    """
    rows = []
    for (series, epsilon), own in runs.groupby(["series", "epsilon"], sort=False):
        beside = runs[(runs["series"] == base) & (runs["epsilon"] == epsilon)]
        if base is None:
            seeds = outcomes.of_trained(own)["accuracy"].to_numpy()
        else:
            seeds = pairing.differences(own, beside, [epsilon])
        measured = verdicts.interval(seeds)
        rows.append(
            {
                "series": series,
                "epsilon": epsilon,
                "certified": bool(own["certified"].all()),
                "n": measured.n,
                "mean": measured.mean,
                "low": measured.low,
                "high": measured.high,
                "seeds": tuple(seeds),
            }
        )
    return pd.DataFrame(rows)


def written(table: pd.DataFrame) -> pd.DataFrame:
    """Return the rows as a file holds them, their seeds as a text."""
    seeds = [" ".join(f"{value:.10g}" for value in values) for values in table["seeds"]]
    named = {name: f"against_{name}" for name in ("n", "mean", "low", "high", "seeds")}
    return table.drop(columns="certified").assign(seeds=seeds).rename(columns=named)


def panel(ax: Axes, table: pd.DataFrame, known: dict[str, Look], base: str | None) -> None:
    """Draw the lines of one epsilon as points, one beneath another."""
    names = list(table["series"])
    for y, (_, row) in enumerate(table.iterrows()):
        look = known[row["series"]]
        if len(row["seeds"]) > 1 and row["series"] != base:
            dots = {"color": look.colour, "label": "_seeds", **keys.DOT}
            ax.plot(row["seeds"], [y] * len(row["seeds"]), **dots)
        ax.plot([row["mean"]], [y], label=row["series"], **look.mark(row["certified"]), zorder=4)
        if not np.isnan(row["low"]) and row["series"] != base:
            ax.errorbar(row["mean"], y, xerr=row["high"] - row["mean"], ecolor=look.colour)
    if base is not None:
        ax.axvline(0, color="0.35", linewidth=1, label="_base")
    ax.set_yticks(range(len(names)), [style.literal(name) for name in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.margins(x=0.12)


def label(base: str | None) -> str:
    """Return what the horizontal axis of the points shows."""
    return f"points of accuracy against {base}" if base else "test accuracy, %"


def finding(table: pd.DataFrame, base: str | None) -> str:
    """Tell how far the best other line is from the baseline at the largest epsilon."""
    others = table[(table["series"] != base) & (table["epsilon"] == table["epsilon"].max())]
    others = others[others["n"] > 0]
    if base is None or others.empty:
        return ""
    best = others.loc[others["mean"].idxmax()]
    where = style.at(best["epsilon"])
    name = f"{best['series']}, the best of the others," if len(others) > 1 else best["series"]
    return findings.gap(name, base, best["seeds"], where)


def _value(cell: dict, key: str) -> object:
    return cell["method"] if key == "method" else cell["variant"].get(key)
