"""A better than B, C and D, at equal privacy budget.

Paired t-tests on one difference per seed (better - worse, accuracy points). At every epsilon first:
a pair's p is its largest over the epsilons (intersection-union), Holm's procedure runs over the
opponents, and every interval of a pair is drawn at its level. By the interval of at least 5 paired
seeds, the first that is true:

    holds                     the lower end is above half the margin
    holds, small              the lower end is above 0
    opposite                  the upper end is below 0
    no difference             both ends are less than half the margin from 0
    does not hold             the upper end is below half the margin
    open: needs more seeds    everything else
    open: needs enough seeds  fewer than 5 paired seeds
    open: needs runs of it    one side has no run at this epsilon

The claim is a conjunction over opponents, variants and epsilons (`seeds.conjunction`). Pooled
over the epsilons stands second and decides nothing. Compared are the pairs in which both runs
trained; `failed` counts the others' runs.

With `of`, both sides are values of that setting, compared within every method of the study.

If the claim is false for one opponent at one epsilon, it is found to hold in at most 2.5 % of
cases.
"""

from typing import Any

from dpfl.judging import orderings, rows
from dpfl.judging.evidence import Evidence

REQUIRED = ("study", "better", "worse")
OPTIONAL = ("of", "cells", "epsilons")
LISTS = ("worse", "epsilons")
EXAMPLE = {"better": "a", "worse": ["b"]}


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    compared = orderings.pairs(claim, evidence, claim["worse"])
    return orderings.judged(orderings.asked(claim, evidence, compared), compared)
