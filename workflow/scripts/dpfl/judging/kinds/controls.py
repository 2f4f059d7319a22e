"""A win of a method that is due to one part of it: the method beats every control.

A control lacks that part alone. The comparisons are those of `ordering`, at every epsilon first and
pooled second, in words of their own:

    wins                the lower end is above 0 (`replicated` and `replicated, small` there)
    does not win        the upper end is below half the margin, or below 0
    inconclusive        everything else
    too few seeds       fewer than 5 paired seeds
    not run             one side has no run at this epsilon
    control missing     of the whole: fewer than two controls were run; one that beats it is enough

The whole is a conjunction over controls, variants and epsilons (intersection-union): if one control
is not beaten at one epsilon, it `wins` in at most 2.5 % of cases.
"""

from typing import Any

from dpfl.judging import cells, orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.words import vocabulary as words

REQUIRED = ("study", "better", "controls", "subject")
OPTIONAL = ("cells", "epsilons")
LISTS = ("controls", "epsilons")
EXAMPLE = {"better": "a", "controls": ["b", "c"], "subject": "a part"}

_FEWEST = 2
"""Controls that have to be run: with one, another part may have made the difference."""
_WORDS = {
    **dict.fromkeys((words.REPLICATED, words.SMALL), words.WINS),
    **dict.fromkeys((words.NOT_REPLICATED, words.REVERSED), words.DOES_NOT_WIN),
}


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    compared = orderings.pairs(claim, evidence, claim["controls"])
    judged = orderings.judged(orderings.asked(claim, evidence, compared), compared)
    told = [row | {"verdict": _WORDS.get(row["verdict"], row["verdict"])} for row in judged]
    told[0]["about"] = f"A win due to {claim['subject']}, {told[0]['about']}"
    ran = {*cells.runs(claim, evidence)["method"]}
    few = claim["better"] in ran and len(ran & {*claim["controls"]}) < _FEWEST
    if few and told[0]["verdict"] != words.DOES_NOT_WIN:
        told[0]["verdict"] = words.CONTROL_MISSING
    return told
