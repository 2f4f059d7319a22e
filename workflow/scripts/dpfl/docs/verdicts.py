"""docs/reference/verdicts.md: the rule of every kind of claim, from the first lines of its file."""

from dpfl.docs import markdown
from dpfl.judging import claims
from dpfl.report import rules
from dpfl.report.claims_table import TONES

TITLE = """# Verdict rules

Each kind of claim is a file of `workflow/scripts/dpfl/judging/kinds/`; its first lines fix its
verdicts, their conditions and the smallest n. They stand here as they stand there. Why they are
so, with examples, and when they were changed: [statistics](../statistics.md). Which keys a claim
of a kind takes: [adding a paper](../adding-a-paper.md#kinds-of-claims).

A share of cases in which a false claim is found to hold is that of the test alone, at rates given
beforehand. Where rates are tuned, two equal methods come out as `replicated, small` more often
and as `replicated` rarely: [a simulation](../statistics.md#why-a-grid-is-not-enough)."""
SIDES = {"good": "holds", "bad": "does not hold"}
LAST = """Every other verdict decides nothing: `inconclusive`, `too few seeds`, `control missing`,
`demonstration`, `not run`, `unfinished`, `not judged`. The verdict on privacy is apart:
[audits](../privacy.md#what-an-audit-adds)."""


def page() -> str:
    """Return the page of all kinds of claims that there are."""
    parts = [TITLE, markdown.table(("verdict", "the claim"), _sides()), LAST]
    return "\n\n".join([*parts, rules.of_kinds(sorted(claims.kinds()), "##")]) + "\n"


def _sides() -> list[list[str]]:
    return [[f"`{verdict}`", SIDES[tone]] for verdict, tone in TONES.items()]
