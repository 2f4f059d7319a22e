"""Accuracy, or the lead on another method, rises or falls over the values of a setting.

`over` is a setting that the study varies, `epsilon` (its finite ones, or those named), or `rounds`
(test accuracy after each round, the first to the last; there a run that fails counts as it is).

Per seed the linear contrast of accuracy on the rank of the value, as the change in points from the
first value to the last, which the line fitted to all values makes. A t-test over seeds, turned
round for `falls`, by the rule of differences. With `worse` it is the change of the lead on that
method. Seeds that lack a value, or whose run failed at one, do not count. It `needs runs of it`
where fewer than two values were run.

The claim is a conjunction over all else that the study varies (variants, epsilons), each part at
the level of a look: false in one part, it is found to hold in at most 2.5 % of cases. A trend need
not be monotone: it says what the whole range does.
"""

from typing import Any

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.judging import cells, contrasts, orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import fairness, looks, outcomes, pairing, verdicts
from dpfl.tables import results
from dpfl.tuning.parts import chance
from dpfl.words.vocabulary import NOT_RUN

REQUIRED = ("study", "method", "over", "direction")
OPTIONAL = ("worse", "cells", "epsilons")
LISTS = ("epsilons",)
CHOICES = {"direction": ("rises", "falls")}
EXAMPLE = {"method": "a", "over": "epsilon", "direction": "rises"}

_SIGN = {"rises": 1, "falls": -1}
_NOUN = {"rises": "rise", "falls": "fall"}
_EPSILON, _ROUNDS = "epsilon", "rounds"
_NO_SETTING = (_EPSILON, _ROUNDS)
_VALUE = "percent"


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    over = claim["over"]
    both = cells.runs(claim, evidence)
    runs = cells.having(both, "method", claim["method"])
    setting = over not in _NO_SETTING
    if setting and over not in results.settings(evidence.study):
        raise UserError(f"claim {claim['id']}: over {over!r}, which the study does not vary")
    parts, samples, used = [], [], []
    for name, epsilon, own in _groups(claim, evidence, runs):
        values, sample = _sample(claim, evidence, own)
        if "worse" in claim:
            other = _beside(evidence, own, cells.having(both, "method", claim["worse"]), over)
            sample = (sample - _sample(claim, evidence, other, values)[1]).dropna()
            own = pd.concat([own, other])
        used.append(own if over == _ROUNDS else own[own[over].astype(float).isin(values)])
        samples.append((_SIGN[claim["direction"]] * sample).round(pairing.ZERO).to_numpy())
        group = (name, epsilon, used[-1])
        parts.append(_part(claim, evidence, group, values, samples[-1]))
    head = rows.blank(claim, evidence, about=_about(claim), **NOT_RUN._asdict())
    if not parts:
        return [head]
    if len(parts) == 1:
        return [parts[0] | {"part": "overall"}]
    rule = verdicts.Ordering(evidence.study["margin"])
    return [head | orderings.whole(parts, samples, rule) | _of_runs(claim, *used), *parts]


def _groups(claim: dict, evidence: Evidence, runs: pd.DataFrame) -> list[tuple]:
    """Return what differs beside `over`: as text, at which epsilon, and the runs of it."""
    own = results.without(runs, results.settings(evidence.study), claim["over"])
    texts = list(dict.fromkeys(own)) or [""]
    if claim["over"] == _EPSILON:
        return [(text, np.nan, runs[own == text]) for text in texts]
    return [
        (text, epsilon, runs[(own == text) & (runs["epsilon"] == epsilon)])
        for text in texts
        for epsilon in cells.epsilons(claim, runs)
    ]


def _beside(evidence: Evidence, own: pd.DataFrame, rival: pd.DataFrame, over: str) -> pd.DataFrame:
    """Return the rival's runs that differ from a group's in nothing but the method."""
    keys, of_rival = results.settings(evidence.study), {*own["epsilon"]}
    alike = results.without(rival, keys, over).isin({*results.without(own, keys, over)})
    return rival[alike & rival["epsilon"].isin(of_rival)]


def _sample(
    claim: dict, evidence: Evidence, runs: pd.DataFrame, of: list | None = None
) -> tuple[list, pd.Series]:
    """Return the values that are compared, or those given, and one change per seed."""
    over = claim["over"]
    if over == _ROUNDS:
        curves = _curves(evidence, runs)
        return _numbers(claim, curves["round"]), contrasts.of_curves(curves, _VALUE)
    found = cells.epsilons(claim, runs) if over == _EPSILON else _numbers(claim, runs[over])
    values = found if of is None else of
    return values, contrasts.of_seeds(outcomes.of_trained(runs), over, values, "accuracy")


def _curves(evidence: Evidence, runs: pd.DataFrame) -> pd.DataFrame:
    """Return test accuracies in percent from the first round on; one that is not finite guesses."""
    rounds = evidence.rounds()
    trained = rounds[rounds["cell"].isin(runs["cell"]) & (rounds["round"] > 0)]
    guess = chance.guessing(evidence.study["dataset"])
    percent = 100 * trained["test_accuracy"].astype(float)
    return trained.assign(**{_VALUE: percent.where(np.isfinite(percent), guess)})


def _numbers(claim: dict, values: pd.Series) -> list[float]:
    """Return the values of a setting in their order; UserError for one that is no number."""
    try:
        return sorted({float(value) for value in values.dropna()})
    except (TypeError, ValueError):
        told = ", ".join(dict.fromkeys(map(str, values)))
        expected = f"its values are {told}, expected numbers"
        raise UserError(f"claim {claim['id']}: over {claim['over']!r}: {expected}") from None


def _part(claim: dict, evidence: Evidence, group: tuple, values: list, sample: Any) -> rows.Row:
    """Judge one contrast of a group; it ran if there are two values or more, each with a run."""
    text, epsilon, runs = group
    measured, p = verdicts.interval(sample, looks.LEVEL), verdicts.p_value(sample)
    missing = claim["over"] == _EPSILON and not {*values} <= {*runs[_EPSILON]}
    alone = "worse" in claim and runs["method"].nunique() < 2
    ran = len(values) > 1 and not missing and not alone
    verdict = verdicts.of_ordering(measured, evidence.study["margin"])
    ends = f" {values[0]:g} to {values[-1]:g}" if ran else ""
    where = [text] * bool(text) + [cells.shown(epsilon)] * (not np.isnan(epsilon))
    return rows.blank(
        claim,
        evidence,
        ", ".join(where) or f"over {claim['over']}",
        about=", ".join([f"{_about(claim)}{ends}", *where]),
        epsilon=epsilon,
        p=p,
        p_holm=verdicts.p_at(p, looks.LEVEL),
        **fairness.judged(verdict if ran else NOT_RUN, runs, runs)._asdict(),
        **rows.interval("difference", measured),
        **_of_runs(claim, runs),
    )


def _of_runs(claim: dict, *used: pd.DataFrame) -> rows.Row:
    """Return what the runs have in common; over rounds, where all count, none is left out."""
    found = rows.of_runs(*used)
    return found | {"failed": 0} if claim["over"] == _ROUNDS else found


def _about(claim: dict) -> str:
    lead = f" against {claim['worse']}" if "worse" in claim else ""
    return f"{claim['method']}{lead}, {_NOUN[claim['direction']]} over {claim['over']}"
