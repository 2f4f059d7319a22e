"""A win of a method that is due to one part of it: the method beats every control.

A control lacks that part alone. The comparisons are those of `ordering`, by the rule of
differences. The whole is a conjunction over controls, variants and epsilons (intersection-union):
if one control is not beaten at one epsilon, the claim `holds` in at most 2.5 % of cases. It may be

    open: needs two controls  of the whole: fewer than two were run, and none beats it
"""

from typing import Any

from dpfl.judging import cells, orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.words.vocabulary import BAD, CONTROL_MISSING

REQUIRED = ("study", "better", "controls", "subject")
OPTIONAL = ("cells", "epsilons")
LISTS = ("controls", "epsilons")
EXAMPLE = {"better": "a", "controls": ["b", "c"], "subject": "a part"}

_FEWEST = 2
"""Controls that have to be run: with one, another part may have made the difference."""


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    compared = orderings.pairs(claim, evidence, claim["controls"])
    judged = orderings.judged(orderings.asked(claim, evidence, compared), compared)
    judged[0]["about"] = f"A win due to {claim['subject']}, {judged[0]['about']}"
    ran = {*cells.runs(claim, evidence)["method"]}
    few = claim["better"] in ran and len(ran & {*claim["controls"]}) < _FEWEST
    if few and judged[0]["verdict"] not in BAD:
        judged[0] |= CONTROL_MISSING._asdict()
    return judged
