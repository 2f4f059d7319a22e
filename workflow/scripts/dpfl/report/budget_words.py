"""Sentences about how a privacy budget is spent: by strategies, on whole clients, over two numbers.

Every function returns a list of plain text from a study and its tables as `reader` reads them, and
an empty one for a study that varies something else.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd

from dpfl.report.narrative import name_of, overlap, percent
from dpfl.report.verdict_words import demonstration
from dpfl.tables import comparisons, results
from dpfl.words import cell_words
from dpfl.words.cell_words import certified
from dpfl.words.forms import listed, setting
from dpfl.words.numerals import counted, known

ACCOUNTANTS = {
    "pld": "pld: the noise of every round was fixed before training, and the privacy loss "
    "distribution of all of it certifies ε.",
    "rdp-filter": "rdp-filter: the noise of a round was chosen while training, from what was "
    "released before it. No privacy loss distribution covers that; an RDP filter, at one order "
    "fixed in advance, certifies that ε stays at or below the budget.",
}


def headline(study: dict, compared: pd.DataFrame) -> list[str]:
    """Ask, for each method and its baseline, whether another value does better, and answer."""
    changes, lines = comparisons.whole(compared), []
    if len(changes) and results.demonstrates(study):
        return [demonstration(study)]
    for _, own in changes.groupby("worse", sort=False):
        parts = [
            f"{listed(dict.fromkeys(group['value']))}: {verdict}"
            for verdict, group in own.groupby("verdict", sort=False)
        ]
        question = f"Is another {_change(own.iloc[0], changes)} at equal privacy budget?"
        lines.append(f"{question} {'; '.join(parts)}.")
    return lines


def _change(row: pd.Series, changes: pd.DataFrame) -> str:
    """Word the change from a baseline, which is a method or a value of what a method varies."""
    whose = f" of {row['method']}" * (changes["worse"].nunique() > 1 and row["method"] != "")
    return f"{row['setting']}{whose} more accurate than {row['base']}"


def spent(study: dict, cells: pd.DataFrame) -> list[str]:
    """Say what each cell beside a baseline has spent at most, and who certifies it."""
    private, lines = cells[np.isfinite(cells["epsilon"])], []
    if not study.get("baseline") or not len(private):
        return []
    for epsilon, group in private.groupby("epsilon"):
        parts = [
            f"{listed(f'{certified(row)} by {name_of(row)}' for _, row in own.iterrows())} "
            f"({accountant})"
            for accountant, own in group.groupby("accountant", sort=False)
        ]
        lines.append(f"{setting(epsilon)}, certified as spent at most: {'; '.join(parts)}.")
    used = set(private["accountant"])
    return [*lines, *(text for name, text in ACCOUNTANTS.items() if name in used)]


def clients(study: dict, cells: pd.DataFrame) -> list[str]:
    """Say, for each method and budget, what more clients do to accuracy and to privacy's price."""
    variants = [cell["variant"] for cell in study["cells"]]
    table = cells.assign(
        clients=[variant.get("clients") for variant in variants],
        rest=[results.variant_text(variant, without="clients") for variant in variants],
        label=cell_words.labels(cells),
    ).dropna(subset="clients")
    table = table.assign(clients=table["clients"].astype(int)).sort_values("clients")
    lines = []
    for (label, rest), group in table.groupby(["label", "rest"], sort=False):
        free = group[np.isinf(group["epsilon"])].set_index("clients")["accuracy_mean"]
        for epsilon, own in group[np.isfinite(group["epsilon"])].groupby("epsilon"):
            if len(own) > 1:
                name = ", ".join(filter(None, (label, rest, setting(epsilon))))
                lines.append(f"{name}: {_few_and_many(own.iloc[0], own.iloc[-1], free)}.")
    return lines


def surfaces(study: dict, cells: pd.DataFrame) -> list[str]:
    """Say which cell of each surface over two numbers is best, and whether the grid ends there."""
    keys = results.numeric_keys(study)
    if len(keys) != 2:
        return []
    variants = pd.DataFrame([cell["variant"] for cell in study["cells"]], index=cells.index)
    others = [key for key in variants if key not in keys]
    lines = []
    labels = cell_words.labels(cells)
    for _, own in cells.groupby([labels, cells["epsilon"], *map(variants.get, others)]):
        best = own.loc[own["accuracy_mean"].idxmax()]
        lines.append(
            f"{labels[best.name]}, {setting(best['epsilon'])}: best of "
            f"{counted(len(own), 'cell')} is {best['variant']}, {percent(best)}; "
            f"{_rivals(best, own)}"
            f"{_ends(variants.loc[own.index, keys], best.name)}."
        )
    return lines


def findings(study: dict, cells: pd.DataFrame) -> list[str]:
    """Tell all of it that a study's content has an answer to."""
    return [*spent(study, cells), *clients(study, cells), *surfaces(study, cells)]


def _few_and_many(few: pd.Series, many: pd.Series, free: pd.Series) -> str:
    """Compare the fewest with the most clients, and both with training without privacy."""
    gap = many["accuracy_mean"] - few["accuracy_mean"]
    higher = sorted((few, many), key=lambda row: row["accuracy_mean"])
    text = (
        f"{percent(few)} with {counted(few['clients'], 'client')}, {percent(many)} with "
        f"{many['clients']}: {gap:+.1f} points, {overlap(*higher)}"
    )
    if not {few["clients"], many["clients"]} <= set(free.index):
        return text
    lost = [free[row["clients"]] - row["accuracy_mean"] for row in (few, many)]
    word = "less" if lost[1] < lost[0] else "no less"
    return (
        f"{text}; privacy costs {lost[0]:.1f} points with {few['clients']} and {lost[1]:.1f} with "
        f"{many['clients']}: more clients, {word} harm"
    )


def _rivals(best: pd.Series, own: pd.DataFrame) -> str:
    """Say how many other cells reach the best one with their intervals."""
    if not known(best["ci_low"]):
        return "without intervals to compare"
    count = int((own.drop(best.name)["ci_high"] >= best["ci_low"]).sum())
    return f"the intervals of {count} others overlap its own"


def _ends(values: pd.DataFrame, best: int) -> str:
    """Say in which directions the best cell lies at the end of the grid."""
    ends = [f"the {word} {key}" for key, word in _directions(values, best)]
    beyond = f"; it has {listed(ends)} of the grid, so that better ones may lie beyond"
    return beyond if ends else ""


def _directions(values: pd.DataFrame, best: int) -> Iterator[tuple[str, str]]:
    for key, column in values.items():
        if column[best] == column.max():
            yield key, "highest"
        elif column[best] == column.min():
            yield key, "lowest"
