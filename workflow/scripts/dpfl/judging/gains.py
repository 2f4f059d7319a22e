"""Printed gains of one method on another, with the runs that stand beside them."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.judging import cells, orderings, printed
from dpfl.judging.evidence import Evidence
from dpfl.tables import results

Place = tuple[str, frozenset]
"""A metric and the coordinates of a printed number."""


@dataclass(frozen=True)
class Gain:
    """A printed gain at one epsilon, in points; `baseline` is the number printed for the worse.

    `compared` says what is compared with what. A side that was not run is empty.
    """

    name: str
    about: str
    epsilon: float
    printed: float
    baseline: float
    better: pd.DataFrame
    worse: pd.DataFrame
    compared: str = ""


def found(claim: dict, evidence: Evidence) -> list[Gain]:
    """Return the gains of a claim that are printed for the study's data set."""
    runs = cells.runs(claim, evidence)
    of = claim.get("of", orderings.METHOD)
    pairs = orderings.pairs(evidence, runs, claim["better"], [claim["worse"]], of)
    gains = _of_points(claim, pairs) if "points" in claim else _of_table(claim, evidence, pairs)
    named = [results.number(value) for value in claim.get("epsilons", ())]
    return [gain for gain in gains if not named or cells.same(gain.epsilon, named)]


def _of_points(claim: dict, pairs: list[orderings.Pair]) -> list[Gain]:
    """Return one gain, the same everywhere, for every pair and epsilon."""
    sides = [side for pair in pairs for side in (pair.better, pair.worse)]
    epsilons = cells.epsilons(claim, *sides)
    points = float(claim["points"])
    return [
        _gain(pair, cells.shown(epsilon), epsilon, points, np.nan)
        for pair in pairs
        for epsilon in epsilons
    ]


def _of_table(claim: dict, evidence: Evidence, pairs: list[orderings.Pair]) -> list[Gain]:
    """Return the gains between numbers that are printed at the same place."""
    gains = []
    for pair in pairs:
        ours, theirs = (_numbers(claim, evidence, side) for side in (pair.better, pair.worse))
        gains += [
            _gain(
                pair,
                place.name,
                place.epsilon,
                round(place.value - theirs[key].value, 9),
                theirs[key].value,
                place.compared,
            )
            for key, place in ours.items()
            if key in theirs
        ]
    return gains


def _numbers(claim: dict, evidence: Evidence, side: pd.DataFrame) -> dict[Place, printed.Number]:
    """Return the numbers that stand for some runs, by where they are printed.

    Those at epsilons that were not run come with them; another data set's do not.
    """
    own, numbers = set(side["run"]), []
    for row, method in _rows(claim, evidence, own):
        numbers += printed.numbers(claim | {"cells": {}}, evidence, claim["table"], row, method)
    beside = {_rest(number) for number in numbers if own & {*number.runs["run"]}}
    return {_place(number): number for number in numbers if _rest(number) in beside}


def _rows(claim: dict, evidence: Evidence, own: set[str]) -> list[tuple[str, str]]:
    """Return the printed rows that stand for some runs, and the method that they stand for."""
    table = cells.chosen(claim, evidence.printed, {"table": claim["table"]})
    if not len(table):
        raise UserError(f"claim {claim['id']}: nothing is printed at table {claim['table']}")
    table = table[table["study"] == claim["study"]]
    beside = table.loc[[bool(own & {*str(names).split()}) for names in table["runs"]]]
    return list(dict.fromkeys(zip(beside["row"], beside["method"], strict=True)))


def _rest(number: printed.Number) -> Place:
    return _place(number, "epsilon")


def _place(number: printed.Number, *without: str) -> Place:
    kept = {k: v for k, v in number.coordinates.items() if k not in without}
    return number.metric, frozenset(kept.items())


def _gain(
    pair: orderings.Pair,
    place: str,
    epsilon: float,
    points: float,
    base: float,
    compared: str = "",
) -> Gain:
    own = pair.at(epsilon)
    name = place if "," not in pair.name else f"{place}{pair.name[pair.name.index(',') :]}"
    return Gain(
        name,
        f"{pair.about}, {place}",
        epsilon,
        points,
        base,
        own.better,
        own.worse,
        compared,
    )
