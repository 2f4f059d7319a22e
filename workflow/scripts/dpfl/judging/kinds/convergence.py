"""A reaches an accuracy in fewer rounds than B, at equal privacy budget.

A run's rounds are those until its test accuracy is first at `accuracy` (percent), or `within` so
many points of what B's run of the same seed ends at; a run of B that failed sets no goal, and its
seed is not compared. A run
that never gets there, because it failed or is slow, counts as one round more than there are; rows
say of how many runs this holds. Paired t-tests on the rounds saved
(B's - A's), one difference per seed, at every epsilon first as in `ordering`; the margin is 1
round:

    replicated          the lower end is above half a round
    replicated, small   the lower end is above 0
    reversed            the upper end is below 0
    not replicated      the upper end is below half a round
    inconclusive        everything else
    too few seeds       fewer than 5 paired seeds
    not run             one side has no run at this epsilon

The claim is a conjunction over opponents, variants and epsilons. How often a false one is found
replicated has no bound here as it has for accuracies: rounds are whole numbers, often the same for
all seeds, so that their spread is taken to be that of rounding at the least; and one run that never
gets there may weigh as much as all others gain. Where as many seeds lose rounds as save them, all
of five save some in 1 of 32 cases.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from dpfl.judging import cells, orderings, rows
from dpfl.seeds import outcomes

if TYPE_CHECKING:
    from dpfl.judging.evidence import Evidence

REQUIRED = ("study", "better", "worse")
OPTIONAL = ("cells", "epsilons")
ONE_OF = ("accuracy", "within")
LISTS = ("worse", "epsilons")
EXAMPLE = {"better": "a", "worse": ["b"], "accuracy": 50}

_MARGIN = 1.0
"""In rounds."""
_ROUNDING = (2 / 12) ** 0.5
"""The standard deviation of a difference of two numbers of rounds, each rounded to a whole one."""
_SAVED, _NEVER, _TO = "saved", "never", "to"
"""Columns of a race: the round of a run, negative, whether it falls short, and of what."""


def drawn() -> None:
    """Return nothing: rounds have no place on a scale of points."""


def unit() -> str:
    """Return the unit of differences."""
    return "rounds"


def judge(claim: dict[str, Any], evidence: "Evidence") -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    runs = cells.runs(claim, evidence)
    compared = orderings.pairs(evidence, runs, claim["better"], claim["worse"])
    epsilons = cells.epsilons(claim, *_sides(compared))
    curves = _curves(evidence.rounds()) if len(runs) else {}
    races = [_race(claim, pair.among(epsilons), curves) for pair in compared]
    question = orderings.Question(
        claim, evidence, epsilons, _MARGIN, _SAVED, least=_ROUNDING, remark=short
    )
    judged = orderings.judged(question, races)
    judged[0]["about"] += short(*races)
    return [row | {"about": f"Rounds to {_goal(claim)}, {row['about']}"} for row in judged]


def short(*pairs: orderings.Pair) -> str:
    """Say how many runs of some pairs never get there, as the end of a name."""
    late = [side.loc[side[_NEVER].astype(bool), ["cell", "run", _TO]] for side in _sides(pairs)]
    count = len({place for own in late for place in own.itertuples(index=False, name=None)})
    word = "gets" if count == 1 else "get"
    return f" ({count} never {word} there, counted as one round more)" if count else ""


def reached(curve: pd.Series, goal: float) -> float:
    """Return the first round at which a curve, accuracies by round, is at a goal; nan for none.

    Both are percent of examples: a goal that is met to the example is met, however it is rounded.
    """
    there = curve[curve >= goal - 1e-9]
    return float(there.index[0]) if len(there) else float("nan")


def _sides(pairs: Iterable[orderings.Pair]) -> list[pd.DataFrame]:
    return [side for pair in pairs for side in (pair.better, pair.worse)]


def _goal(claim: dict) -> str:
    if "accuracy" in claim:
        return f"{claim['accuracy']:g} %"
    points = f"{claim['within']:g} point{'s' * (claim['within'] != 1)}"
    return f"within {points} of the other's last accuracy"


def _curves(rounds: pd.DataFrame) -> dict[tuple[int, str], pd.Series]:
    """Return the test accuracy of every run in percent, by its cell and name and then by round."""
    rounds = rounds.assign(percent=100 * rounds["test_accuracy"]).sort_values("round")
    return {
        name: own.set_index("round")["percent"] for name, own in rounds.groupby(["cell", "run"])
    }


def _race(claim: dict, pair: orderings.Pair, curves: dict) -> orderings.Pair:
    """Return a pair with the columns of a race: runs with a goal, and those that set none."""
    goals = _goals(claim, pair)
    sides = [side[_raced(side, goals)] for side in (pair.better, pair.worse)]
    late = _late(pd.concat(sides), curves)
    better, worse = (_timed(side, goals, curves, late) for side in sides)
    beside, no_goal = (side[~_raced(side, goals)] for side in (pair.better, pair.worse))
    none = {_NEVER: False, _TO: np.nan}
    beside = beside.assign(**{_SAVED: 0.0}, **none)  # no pair: its seed has no goal
    no_goal = no_goal.assign(**{_SAVED: np.nan}, **none)
    return replace(pair, better=pd.concat([better, beside]), worse=pd.concat([worse, no_goal]))


def _goals(claim: dict, pair: orderings.Pair) -> dict[tuple[int, float], float]:
    """Return the accuracy to reach by seed and epsilon, for those that have one."""
    if "accuracy" in claim:
        both = [s for side in (pair.better, pair.worse) for s in _places(side)]
        return dict.fromkeys(both, float(claim["accuracy"]))
    worse = outcomes.of_trained(pair.worse)
    return dict(zip(_places(worse), worse["accuracy"] - claim["within"], strict=True))


def _places(side: pd.DataFrame) -> list[tuple[int, float]]:
    return list(zip(side["seed"], side["epsilon"], strict=True))


def _raced(side: pd.DataFrame, goals: dict) -> np.ndarray:
    return np.array([place in goals for place in _places(side)], dtype=bool)


def _names(side: pd.DataFrame) -> list[tuple[int, str]]:
    return list(zip(side["cell"], side["run"], strict=True))


def _late(runs: pd.DataFrame, curves: dict) -> dict[float, int]:
    """Return one round more than runs have, by epsilon: budgets may end runs apart."""
    rounds = pd.Series([curves[name].index.max() for name in _names(runs)], dtype=int)
    return (rounds.groupby(runs["epsilon"].to_numpy()).max() + 1).to_dict()


def _timed(side: pd.DataFrame, goals: dict, curves: dict, late: dict) -> pd.DataFrame:
    """Add the columns to runs; `late` is the round of those that never get there, by epsilon."""
    to = [goals[place] for place in _places(side)]
    found = [reached(curves[name], goal) for name, goal in zip(_names(side), to, strict=True)]
    # A run that fails may have passed the goal before it diverged.
    never = np.isnan(np.array(found, dtype=float)) | ~side["trained"].astype(bool).to_numpy()
    times = {_SAVED: -np.where(never, side["epsilon"].map(late), found), _NEVER: never, _TO: to}
    return side.assign(trained=True, **times)  # a run that fails is late, and no less a part
