"""Whether the two sides of a comparison were tuned alike, and their epsilons mean the same.

alike       each side runs at values that trials of its own have chosen, all by one rule
shared      the same trials have chosen for both: as for sides that differ in nothing tuned
none        neither side is tuned
one side    one side is tuned and the other is not, which favours the first

Where whole clients are protected, a verdict is open if a rate was tuned at another epsilon: what
is best there may be far from it here. So is one against a side whose choice lies at an edge of what
was tried, if its rival had more trials: a better value may lie beyond. Epsilons of two adjacencies
are not equal budgets: then it is open too.
"""

from collections.abc import Iterable

import pandas as pd

from dpfl.seeds import conjunction
from dpfl.words import vocabulary as words

FAIREST_LAST = ("one side", "none", "shared", "alike")
_WON = (words.HOLDS, words.SMALL)
SAID = {
    "alike": "both sides tuned alike",
    "shared": "both sides at what the same trials have chosen",
    "none": "neither side tuned",
    "one side": "one side tuned, the other not",
}


def between(better: pd.DataFrame, worse: pd.DataFrame) -> str:
    """Return how two sides were tuned, "" without runs on one of them."""
    ours, theirs = ({*side["tuning"]} if len(side) else set() for side in (better, worse))
    if not ours or not theirs:
        return ""
    if "" in ours | theirs:
        return "none" if ours == theirs == {""} else "one side"
    return "shared" if ours & theirs else "alike"


def least(found: Iterable[str]) -> str:
    """Return the least fair of some comparisons, "" for none."""
    own = {*found} - {""}
    return next((word for word in FAIREST_LAST if word in own), "")


def judged(verdict: words.Verdict, better: pd.DataFrame, worse: pd.DataFrame) -> words.Verdict:
    """Return a verdict on two sides, open where one was tuned otherwise, or protects otherwise."""
    if verdict in (words.TOO_FEW, words.NOT_RUN):
        return verdict
    if len(_adjacencies(better) | _adjacencies(worse)) > 1:
        return words.OTHER_NEIGHBOURS
    if any(map(_tuned_elsewhere, (better, worse))):
        return words.NOT_TUNED
    against = [better] * (verdict not in _WON) + [worse] * (verdict not in conjunction.FAILED)
    trials = [side.get("trials", pd.Series(0)).max() for side in (better, worse)]
    fewer = [side for side, own in zip((better, worse), trials, strict=True) if own < max(trials)]
    short = any(side is own and _at_edge(side) for side in against for own in fewer)
    return words.FEWER_TRIALS if short and verdict != words.INCONCLUSIVE else verdict


def _adjacencies(side: pd.DataFrame) -> set[str]:
    """Return which data sets are neighbours; none without privacy."""
    return {*side.get("adjacency", pd.Series("")).fillna("")} - {""}


def _tuned_elsewhere(side: pd.DataFrame) -> bool:
    """Tell whether runs that protect clients have a value that was chosen at another epsilon."""
    at = side.get("tuned_at", side["epsilon"])
    return bool((at.notna() & (at != side["epsilon"]) & (side["unit"] == "client")).any())


def _at_edge(side: pd.DataFrame) -> bool:
    return bool(side.get("edge", pd.Series("")).ne("").any())
