"""How the verdicts on the parts of a claim add up: it holds only if every part of it does.

A conjunction of tests at one level each has at most that level (intersection-union, Berger 1982),
so a claim that is false somewhere is found `replicated` no more often than that one part would be.
The other way it is weaker: each of k parts that hold is found `not replicated` in at most 2.5 % of
cases, the whole in at most k times as many.
"""

from collections.abc import Iterable

REFUTED = frozenset({"not replicated", "reversed"})
WEAKEST_FIRST = ("too few seeds", "not run", "inconclusive", "replicated, small", "replicated")
MISMATCH_FIRST = ("differs", "too few seeds", "not run", "inconclusive", "matches")


def verdict(parts: Iterable[str]) -> str:
    """Return the verdict on the whole: one refuted part refutes it, else the weakest decides."""
    found = set(parts)
    if found & REFUTED:
        return "reversed" if found == {"reversed"} else "not replicated"
    return next((word for word in WEAKEST_FIRST if word in found), "not run")


def matching(parts: Iterable[str]) -> str:
    """Return the verdict on several printed numbers: one that differs decides, or the weakest."""
    found = set(parts)
    return next((word for word in MISMATCH_FIRST if word in found), "not run")
