"""Looks: with how many seeds verdicts are taken, and at which level (Pocock 1977).

A claim is judged with the first 5 seeds of every cell. While it is open it is judged again with 10,
and with 20. What is decided at a look stays decided, and its rows are those of that look. A test
has LEVEL at each look. By this an error of 5 % over all three is kept (doi 10.1093/biomet/64.2.191;
for paired t-tests by simulation: docs/statistics.md).

The plan is fixed: seeds between two looks change nothing. A cell with fewer seeds than others is
seen with those of the last look that it has. Runs that fail make pairs fewer, but no look another.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import pandas as pd

SEEDS = (5, 10, 20)
LEVEL = 1 - 0.0195
Judged = TypeVar("Judged")


def taken(runs: pd.DataFrame) -> list[int]:
    """Return the looks that some cell has seeds for; the first one where none has."""
    most = runs.groupby("cell")["seed"].nunique().max() if len(runs) else 0
    return [seeds for seeds in SEEDS if seeds <= most] or [SEEDS[0]]


def seen(runs: pd.DataFrame, look: int) -> pd.DataFrame:
    """Return the runs that a look sees: of every cell the first seeds, in their order.

    These are as many as the last look that the cell has, and all of them below the first one.
    """
    if not len(runs) or runs["seed"].nunique() <= SEEDS[0]:
        return runs
    seeds = runs.groupby("cell")["seed"]
    return runs[seeds.rank("dense") <= seeds.transform("nunique").map(lambda own: _last(own, look))]


def each(*runs: pd.DataFrame) -> Iterator[list[pd.DataFrame]]:
    """Yield what every look sees of some frames of runs."""
    looks = sorted({look for own in runs for look in taken(own)})
    yield from ([seen(own, look) for own in runs] for look in looks)


def first(judged: Iterable[Judged], decides: Callable[[Judged], bool]) -> Judged:
    """Return what the first look decides, or what the last one leaves open."""
    found = None
    for found in judged:
        if decides(found):
            break
    return found


def following(count: int) -> int | None:
    """Return how many seeds the look after so many has; None after the last."""
    return next((seeds for seeds in SEEDS if seeds > count), None)


def _last(own: int, look: int) -> int:
    return max((seeds for seeds in SEEDS if seeds <= min(own, look)), default=own)
