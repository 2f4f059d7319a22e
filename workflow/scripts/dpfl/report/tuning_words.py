"""Sentences about the values chosen for the cells of a study, from its table `tuned`."""

import math

import pandas as pd

from dpfl.report.forms import counted, listed

UNPAID = (
    "No certified ε pays for the choice, which looked at held-out private examples. The last "
    "column is what it would cost if a random number of trials, as many on average, were drawn "
    "from a list fixed beforehand, and the best run alone released (Papernot and Steinke 2022)."
)


def of_study(tuned: pd.DataFrame) -> list[str]:
    """Say how values were chosen, with what effort and resolution, and what is at an edge."""
    if tuned.empty:
        return []
    return [_effort(tuned), _resolution(tuned), _at_edges(tuned), UNPAID]


def _effort(tuned: pd.DataFrame) -> str:
    counts = sorted(set(tuned["runs"].astype(int)))
    cells, rules = counted(len(tuned), "cell"), listed(dict.fromkeys(tuned["rule"]))
    if len(counts) == 1:
        return (
            f"{cells} tuned by {rules}, each with the same effort: {counted(counts[0], 'trial')}."
        )
    told = listed(map(str, counts))
    return f"{cells} tuned by {rules}; the number of trials is not the same for all: {told}."


def _resolution(tuned: pd.DataFrame) -> str:
    known = tuned["factor"][tuned["factor"].map(math.isfinite)]
    widest, spread = known.max(), tuned["spread"]
    if known.empty:
        return "Nothing but the chosen values was tried."
    return (
        f"The nearest other value that was tried is at most {widest:.3g} times away. Over a chosen "
        f"value and its neighbours validation accuracy ranges over {spread.median():.1f} points in "
        f"the median, {spread.max():.1f} at most."
    )


def _at_edges(tuned: pd.DataFrame) -> str:
    edged = tuned[tuned["edge"] != ""]
    if edged.empty:
        return "Every chosen value has higher and lower ones beside it."
    names = dict.fromkeys(
        " ".join(filter(None, (row["label"], row["variant"]))) for _, row in edged.iterrows()
    )
    return f"At the edge of what was tried, so that a better value may lie beyond: {listed(names)}."
