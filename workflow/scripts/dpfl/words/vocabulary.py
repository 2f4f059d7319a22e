"""The words of verdicts, each written here alone; `seeds.verdicts` has those on privacy."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Verdict(NamedTuple):
    """A verdict in a word, and what would decide it where it is open."""

    verdict: str
    needs: str = ""


HOLDS, SMALL = Verdict("holds"), Verdict("holds, small")
DOES_NOT_HOLD, OPPOSITE = Verdict("does not hold"), Verdict("opposite")
NO_DIFFERENCE, NOT_JUDGED = Verdict("no difference"), Verdict("not judged")
MATCHES, DIFFERS = Verdict("matches"), Verdict("differs")
INCONCLUSIVE, TOO_FEW = Verdict("open", "more seeds"), Verdict("open", "enough seeds")
CONTROL_MISSING, SHORTER = Verdict("open", "two controls"), Verdict("open", "as long a training")
NOT_TUNED, NOT_RUN = Verdict("open", "a rate tuned at this epsilon"), Verdict("open", "runs of it")
FEWER_TRIALS, DEMONSTRATION = Verdict("open", "as many trials"), Verdict("open", "real data")
OTHER_NEIGHBOURS = Verdict("open", "one adjacency")
UNFINISHED, NOT_KEPT = Verdict("open", "runs that failed"), Verdict("open", "what is not stored")

GOOD = tuple(own.verdict for own in (HOLDS, SMALL, MATCHES))
BAD = tuple(own.verdict for own in (DOES_NOT_HOLD, OPPOSITE, NO_DIFFERENCE, DIFFERS))
UNJUDGED = (SHORTER, DEMONSTRATION, UNFINISHED, NOT_KEPT, NOT_RUN, NOT_JUDGED)
"""What says nothing of a claim, and is only counted."""

ALARM, REFUTED, NO_PROOF = "certificate refuted", "refuted", "no proof"
PROVEN, NOT_PRIVATE, AS_STATED = "proven", "not private", "as stated"
BEATEN = (ALARM, REFUTED)
"""Verdicts on a claimed epsilon that an audit, or a check of noise or sampling, contradicts."""


def verdict_of(row: Mapping[str, Any]) -> Verdict:
    """Return the verdict that a row of a table has."""
    return Verdict(row["verdict"], row["needs"] if isinstance(row.get("needs"), str) else "")


def decides(row: Mapping[str, Any]) -> bool:
    """Tell whether the verdict of a row decides what is asked."""
    return row["verdict"] in (*GOOD, *BAD)


def in_words(row: Mapping[str, Any]) -> str:
    """Return the verdict of a row for readers: with what it lacks, a proof or what decides it."""
    own, privacy = verdict_of(row), row.get("privacy")
    if own.verdict in GOOD and privacy in (*BEATEN, NO_PROOF):
        return f"{own.verdict}, without a proof"
    if own.verdict in GOOD and privacy == AS_STATED:
        return f"{own.verdict}, if ε is as stated"
    return f"{own.verdict}: needs {own.needs}" if own.needs else own.verdict
