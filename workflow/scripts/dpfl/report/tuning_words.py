"""Sentences about the values chosen for the cells of a study, from its tables of tuning."""

import math
from collections.abc import Iterator

import pandas as pd

from dpfl.words.forms import listed
from dpfl.words.numerals import counted, number

UNPAID = (
    "No certified ε pays for the choice, which looked at held-out private examples without noise. "
    "The last column is what it would cost the training examples if a random number of trials, as "
    "many on average, were drawn from a list fixed beforehand, and the best run alone released "
    "(Papernot and Steinke 2022); examples held out would have to be public."
)

FALLEN = 1.0
"""Points below the best, from which on accuracy is said to fall: the usual margin of verdicts."""


def of_study(tuned: pd.DataFrame, trials: pd.DataFrame) -> list[str]:
    """Say how values were chosen, with what effort and resolution, and what may lie beyond them."""
    if tuned.empty:
        return []
    return [_effort(tuned), _resolution(tuned), _at_edges(tuned), _level(trials), UNPAID]


def _effort(tuned: pd.DataFrame) -> str:
    counts = sorted(set(tuned["runs"].astype(int)))
    cells, rules = counted(len(tuned), "cell"), listed(dict.fromkeys(tuned["rule"]))
    if len(counts) == 1:
        effort = f"each with the same effort: {counted(counts[0], 'trial')}"
        return f"{cells} tuned by {rules}, {effort}.{_shared(tuned)}"
    told = listed(map(str, counts))
    effort = f"the number of trials is not the same for all: {told}"
    return f"{cells} tuned by {rules}; {effort}.{_shared(tuned)}"


def _shared(tuned: pd.DataFrame) -> str:
    """Say that cells share trials, if any do; older tables do not know it."""
    if "tuning" not in tuned or tuned["tuning"].is_unique:
        return ""
    sets = counted(tuned["tuning"].nunique(), "set")
    at = listed(map(number, sorted(set(tuned["tuned_at"]))))
    return f" They share {sets} of trials, which ran at ε {at}."


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
    names = dict.fromkeys(_name(row["label"], row["variant"]) for _, row in edged.iterrows())
    return f"At the edge of what was tried, so that a better value may lie beyond: {listed(names)}."


def _level(trials: pd.DataFrame) -> str:
    """Say where accuracy stays as high up to an end of what was tried as where it is best."""
    ends: dict[str, dict[str, None]] = {"lowest": {}, "highest": {}}
    for (label, variant, _), tried in trials.groupby(["label", "variant", "epsilon"], sort=False):
        for end in _level_ends(tried):
            ends[end][_name(label, variant)] = None
    said = [f"at the {end}, {listed(names)}" for end, names in ends.items() if names]
    if not said:
        return "At every other end of what was tried accuracy is a point or more below the best."
    where = "; ".join(said)
    return (
        "Within a point of the best at an end of what was tried, so that a better value may lie "
        f"beyond a level stretch: {where}."
    )


def _level_ends(tried: pd.DataFrame) -> Iterator[str]:
    """Yield the ends that accuracy does not fall to, but for those where the choice lies."""
    values = pd.DataFrame([_parsed(text) for text in tried["values"]], tried.index)
    accuracy, chosen = tried["validation_accuracy"], tried["chosen"] != ""
    for key in values:
        for end, last in (("lowest", values[key].min()), ("highest", values[key].max())):
            there = values[key] == last
            if not (there & chosen).any() and accuracy.max() - accuracy[there].max() < FALLEN:
                yield end


def _parsed(values: str) -> dict[str, float]:
    """Read `rate=0.1, clip_norm=1` as the tables write it."""
    return {key: float(value) for key, value in (part.split("=") for part in values.split(", "))}


def _name(label: str, variant: str) -> str:
    return " ".join(filter(None, (label, variant)))
