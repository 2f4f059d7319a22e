"""Whether the two sides of a comparison were tuned alike.

alike       each side runs at values that trials of its own have chosen, all by one rule
shared      the same trials have chosen for both: as for sides that differ in nothing tuned
none        neither side is tuned
one side    one side is tuned and the other is not, which favours the first
"""

from collections.abc import Iterable

import pandas as pd

FAIREST_LAST = ("one side", "none", "shared", "alike")
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
