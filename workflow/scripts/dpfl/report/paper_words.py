"""What the claims of papers come to, in counts that add up."""

from collections import Counter
from collections.abc import Iterable

from dpfl.report.claims_table import Line, each, tally
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import DEMONSTRATION, NOT_RUN, UNFINISHED

OPEN = {
    DEMONSTRATION: "only shown at work on a small data set",
    UNFINISHED: "unfinished",
    NOT_RUN: NOT_RUN,
}
"""The verdicts that judge nothing, in words."""


def answer(lines: Iterable[Line], left: int) -> str:
    """Count all claims by their verdicts; `left` are those that cannot be judged."""
    lines = list(lines)
    told = ", ".join(filter(None, (_tally(judged(lines)), rest(lines, left))))
    return f"{counted(len([*each(lines)]) + left, 'claim')}: {told}." if told else "No claim."


def judged(lines: Iterable[Line]) -> list[Line]:
    """Return the lines of the claims that have a verdict, each on its own."""
    return [line for line in each(lines) if line.verdict not in OPEN]


def rest(lines: Iterable[Line], left: int) -> str:
    """Count the claims that have no verdict, such as `1 not run`."""
    counts = Counter(line.verdict for line in each(lines))
    told = [f"{counts[verdict]} {words}" for verdict, words in OPEN.items() if counts[verdict]]
    return ", ".join([*told, *([f"{left} cannot be judged"] if left else [])])


def verdicts(lines: Iterable[Line]) -> list[tuple[str, str]]:
    """Count the verdicts, each count with its tone."""
    counts = Counter((line.verdict, line.tone) for line in judged(lines))
    return [(f"{count} {verdict}", tone) for (verdict, tone), count in counts.items()]


def lead(lines: Iterable[Line]) -> str:
    """Say first what the claims of all papers come to; a finding is of one claim at one scale."""
    lines = list(lines)
    found = judged(lines)
    claims = len({line.identity for line in found})
    findings = f", {len(found)} findings over all scales" * (len(found) > claims)
    many = f"{counted(claims, 'claim')} {'is' if claims == 1 else 'are'} judged{findings}"
    told = f"{many}: {_tally(found)}" if found else "No claim is judged"
    return f"{'; '.join(filter(None, (told, rest(lines, 0))))}."


def _tally(lines: Iterable[Line]) -> str:
    return tally(line.verdict for line in lines)
