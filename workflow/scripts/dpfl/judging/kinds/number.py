"""Printed accuracies against ours: a row for each printed number, and how many of them match.

The Student interval of our mean, at the level of a look, over the seeds whose run trained
(`failed` counts the others), against the band printed +- margin:

    matches                   the interval lies within the band
    differs                   the interval lies wholly outside the band
    open: needs more seeds    everything else
    open: needs enough seeds  fewer than 5 seeds
    open: needs runs of it    nothing runs the printed number at this scale
    open: needs as long a training  the study says that it is shorter than the paper's

Ours is test accuracy, whatever accuracy is printed; `compared` says so. The claim as a whole
`differs` if a number does, and `matches` if all of them do. Else it is open, and needs enough
seeds, runs of it or more seeds: the first that one of its numbers needs.

Each number is judged at looks of its own, and has a level of its own: it is found to differ, or to
match, when it does not, in at most 2.5 % of cases.
"""

from collections.abc import Iterator
from typing import Any

from dpfl.judging import printed, rows
from dpfl.judging.evidence import Evidence

REQUIRED = ("study", "table", "row", "method")
OPTIONAL = ("cells",)
EXAMPLE = {"table": "table 1", "row": "A", "method": "a"}


def band(printed: float, margin: float) -> tuple[float, float]:
    """Return what matches, as ours minus printed: the margin to either side."""
    return -margin, margin


def seen(evidence: Evidence) -> Iterator[Evidence]:
    """Yield all at once: each printed number has its own looks, in the table of them."""
    yield evidence


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the whole of its numbers first."""
    found = printed.numbers(claim, evidence, claim["table"], claim["row"])
    parts = [_part(claim, evidence, number) for number in found]
    sides = [number.runs for number in found]
    whole = rows.whole(claim, evidence, claim["method"], "printed number", parts, sides)
    if len(parts) == 1:
        kept = ("printed", "ours", "ours_low", "ours_high", "epsilon", *rows.DIFFERENCE)
        whole |= {key: parts[0][key] for key in kept}
    return [whole, *parts]


def _part(claim: dict, evidence: Evidence, number: printed.Number) -> rows.Row:
    """Return the row of one printed number, as the table of published numbers judges it."""
    return rows.blank(
        claim,
        evidence,
        number.name,
        about=f"{claim['method']}, {number.name}",
        printed=number.value,
        epsilon=number.epsilon,
        compared=number.compared,
        **number.found,
    )
