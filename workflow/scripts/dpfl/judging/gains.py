"""Printed gains of one method on another, with the runs that stand beside them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpfl.judging import cells, orderings, printed
from dpfl.judging.evidence import Evidence
from dpfl.tables import results

Place = tuple[str, frozenset]
"""A metric and the coordinates of a printed number."""


@dataclass(frozen=True)
class Gain:
    """A printed gain at one epsilon, in points, and the runs of the pair that it is about.

    `baseline` is the number printed for the worse, `compared` says what is compared with what. A
    side that was not run is empty.
    """

    pair: orderings.Pair
    place: str
    epsilon: float
    printed: float
    baseline: float = np.nan
    compared: str = ""

    @property
    def name(self) -> str:
        """Return where it is printed, and what tells the pair apart."""
        return ", ".join(filter(None, (self.place, self.pair.cell)))


def found(claim: dict, evidence: Evidence) -> list[Gain]:
    """Return the gains of a claim that are printed for the study's data set."""
    pairs = orderings.pairs(claim, evidence, [claim["worse"]])
    gains = _of_points(claim, pairs) if "points" in claim else _of_table(claim, evidence, pairs)
    named = [results.number(value) for value in claim.get("epsilons", ())]
    return [gain for gain in gains if not named or cells.same(gain.epsilon, named)]


def _of_points(claim: dict, pairs: list[orderings.Pair]) -> list[Gain]:
    """Return one gain, the same everywhere, for every pair and epsilon."""
    epsilons = cells.epsilons(claim, *(side for pair in pairs for side in pair.sides))
    points = float(claim["points"])
    return [Gain(p.at(e), cells.shown(e), e, points) for p in pairs for e in epsilons]


def _of_table(claim: dict, evidence: Evidence, pairs: list[orderings.Pair]) -> list[Gain]:
    """Return the gains between numbers that are printed at the same place."""
    gains = []
    for pair in pairs:
        ours, theirs = (_numbers(claim, evidence, side) for side in pair.sides)
        for key in (key for key in ours if key in theirs):
            own, base = ours[key], theirs[key].value
            points, runs = round(own.value - base, 9), pair.at(own.epsilon)
            gains.append(Gain(runs, own.name, own.epsilon, points, base, own.compared))
    return gains


def _numbers(claim: dict, evidence: Evidence, side: pd.DataFrame) -> dict[Place, printed.Number]:
    """Return the numbers that stand for some runs, by where they are printed.

    Those at epsilons that were not run come with them; another data set's do not.
    """
    own, numbers = {*side["run"]}, []
    for row, method in _rows(claim, evidence, own):
        numbers += printed.numbers(claim | {"cells": {}}, evidence, claim["table"], row, method)
    beside = {_place(n, "epsilon") for n in numbers if own & {*n.runs["run"]}}
    return {_place(n): n for n in numbers if _place(n, "epsilon") in beside}


def _rows(claim: dict, evidence: Evidence, own: set[str]) -> list[tuple[str, str]]:
    """Return the printed rows that stand for some runs, and the method that they stand for."""
    table = printed.lines(claim, evidence, {"table": claim["table"]})
    table = table[table["study"] == claim["study"]]
    beside = table.loc[[bool(own & {*str(names).split()}) for names in table["runs"]]]
    return list(dict.fromkeys(zip(beside["row"], beside["method"], strict=True)))


def _place(number: printed.Number, *without: str) -> Place:
    kept = {k: v for k, v in number.coordinates.items() if k not in without}
    return number.metric, frozenset(kept.items())
