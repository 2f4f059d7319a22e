"""A better than B, C and D, at equal privacy budget.

Paired t-tests on one difference per seed (better - worse, accuracy points), by the rule of
differences. The claim is a conjunction over opponents, variants and epsilons (`seeds.conjunction`).
Compared are the pairs in which both runs trained; `failed` counts the others' runs.

With `of`, both sides are values of that setting, compared within every method of the study.

`gap_to` names a study that trains without privacy on the same data. Then there has to be a gap to
close: what it trained is more accurate than every opponent. These parts are a family of their own.
Where that study was not run they are left out.

If the claim is false for one opponent at one epsilon, it is found to hold in at most 2.5 % of
cases.
"""

from dataclasses import replace
from typing import Any

import pandas as pd

from dpfl.judging import orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import conjunction
from dpfl.words.numerals import known
from dpfl.words.vocabulary import verdict_of

REQUIRED = ("study", "better", "worse")
OPTIONAL = ("of", "cells", "epsilons", "gap_to")
LISTS = ("worse", "epsilons")
EXAMPLE = {"better": "a", "worse": ["b"]}


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    compared = orderings.pairs(claim, evidence, claim["worse"])
    question = orderings.asked(claim, evidence, compared)
    judged = orderings.judged(question, compared)
    if not len(evidence.free):
        return judged
    gaps = orderings.judged(question, [_gap(question, pair) for pair in compared])
    verdict = conjunction.verdict(verdict_of(own[0]) for own in (judged, gaps))
    decides = judged[0] if verdict_of(judged[0]) == verdict else gaps[0]
    numbers = {key: decides[key] for key in (*rows.DIFFERENCE, "p", "p_holm")}
    at_one = [row for row in gaps[1:] if known(row["epsilon"])]
    return [judged[0] | numbers | verdict._asdict(), *judged[1:], *at_one]


def _gap(question: orderings.Question, pair: orderings.Pair) -> orderings.Pair:
    """Return what was trained without privacy against an opponent, at each of its epsilons."""
    free = [question.evidence.free.assign(epsilon=epsilon) for epsilon in question.epsilons]
    names = dict.fromkeys(("name", "about"), f"without privacy {pair.name}")
    return replace(pair, better=pd.concat(free), **names)
