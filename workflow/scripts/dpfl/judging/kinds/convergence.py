"""A reaches an accuracy in fewer rounds than B, at equal privacy budget.

A run's rounds are those until its test accuracy is first at `accuracy` (percent), or `within` so
many points of what B's run of the same seed ends at. A run of B that failed sets no goal, and its
seed is not compared. A run that never gets there, because it failed or is slow, counts as one round
more than there are; rows say of how many runs this holds. Paired t-tests on the rounds saved (B's -
A's), one difference per seed, by the rule of differences; the margin is 1 round.

The claim is a conjunction over opponents, variants and epsilons. How often a false one is found
to hold has no bound here as it has for accuracies: rounds are whole numbers, often the same for all
seeds, so that their spread is taken to be that of rounding at the least; and one run that never
gets there may weigh as much as all others gain. Where as many seeds lose rounds as save them, all
of five save some in 1 of 32 cases.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from dpfl.judging import cells, orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import outcomes, verdicts
from dpfl.words.numerals import known

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


def words(row: Mapping[str, Any]) -> str:
    """Return the rounds that are saved as what is needed, `needs 4.4 rounds more`, with ends."""
    ends = f" [{_way(row['difference_high'])}, {_way(row['difference_low'])}]"
    told = _way(row["difference"], " rounds")
    return f"needs {told}{ends * known(row['difference_low'])}"


def _way(saved: float, noun: str = "") -> str:
    return f"{abs(saved):.1f}{noun} {'fewer' if saved > 0 else 'more'}"


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    compared = orderings.pairs(claim, evidence, claim["worse"])
    judged_by = {"rule": verdicts.Ordering(_MARGIN, _ROUNDING), "value": _SAVED, "remark": short}
    question = orderings.asked(claim, evidence, compared, **judged_by)
    curves = _curves(evidence.rounds()) if len(cells.runs(claim, evidence)) else {}
    races = [_race(claim, pair.among(question.epsilons), curves) for pair in compared]
    judged = orderings.judged(question, races)
    judged[0]["about"] += short(*races)
    return [row | {"about": f"Rounds to {_goal(claim)}, {row['about']}"} for row in judged]


def short(*pairs: orderings.Pair) -> str:
    """Say how many runs of some pairs never get there, as the end of a name."""
    sides = [side for pair in pairs for side in pair.sides]
    late = [side.loc[side[_NEVER].astype(bool), ["cell", "run", _TO]] for side in sides]
    count = len({place for own in late for place in own.itertuples(index=False, name=None)})
    word = "gets" if count == 1 else "get"
    return f" ({count} never {word} there, counted as one round more)" if count else ""


def reached(curve: pd.Series, goal: float) -> float:
    """Return the first round at which a curve, accuracies by round, is at a goal; nan for none.

    Both are percent of examples: a goal that is met to the example is met, however it is rounded.
    """
    there = curve[curve >= goal - 1e-9]
    return float(there.index[0]) if len(there) else float("nan")


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
    """Return a pair with the columns of a race; a run without a goal takes no part in it."""
    goals = _goals(claim, pair)
    sides = [
        side.assign(**{_TO: [goals.get(place, np.nan) for place in _keys(side, "seed", "epsilon")]})
        for side in pair.sides
    ]
    raced = pd.concat([side[side[_TO].notna()] for side in sides])
    ends = pd.Series([curves[name].index.max() for name in _keys(raced, "cell", "run")], dtype=int)
    late = (ends.groupby(raced["epsilon"].to_numpy()).max() + 1).to_dict()
    better, worse = (_timed(*own, curves, late) for own in zip(sides, (0.0, np.nan), strict=True))
    return replace(pair, better=better, worse=worse)


def _goals(claim: dict, pair: orderings.Pair) -> dict[tuple[int, float], float]:
    """Return the accuracy to reach by seed and epsilon, for those that have one."""
    if "accuracy" in claim:
        both = [place for side in pair.sides for place in _keys(side, "seed", "epsilon")]
        return dict.fromkeys(both, float(claim["accuracy"]))
    worse = outcomes.of_trained(pair.worse)
    goals = worse["accuracy"] - claim["within"]
    return dict(zip(_keys(worse, "seed", "epsilon"), goals, strict=True))


def _keys(side: pd.DataFrame, *columns: str) -> list[tuple]:
    return list(zip(*(side[column] for column in columns), strict=True))


def _timed(side: pd.DataFrame, no_goal: float, curves: dict, late: dict) -> pd.DataFrame:
    """Add the columns to runs; `late` is the round of those that never get there, by epsilon.

    `no_goal` stands in the place of the round for those without a goal.
    """
    names, raced = _keys(side, "cell", "run"), side[_TO].notna().to_numpy()
    found = [reached(curves[name], goal) for name, goal in zip(names, side[_TO], strict=True)]
    # A run that fails may have passed the goal before it diverged.
    trained = side["trained"].astype(bool).to_numpy()
    never = raced & (np.isnan(np.array(found, dtype=float)) | ~trained)
    times = np.where(raced, -np.where(never, side["epsilon"].map(late), found), no_goal)
    # A run that fails is late, and no less a part.
    return side.assign(**{_SAVED: times, _NEVER: never, "trained": trained | raced})
