"""How the verdicts on the parts of a claim add up: it holds only if every part of it does.

A conjunction of tests at one level each has at most that level (intersection-union, Berger 1982).
So a claim that is false in one part is found `replicated` no more often than that part. The other
way it is weaker. A part whose true lead is at least half the margin is found `not replicated` in at
most 2.5 % of cases. A whole of k such parts is found so in at most k times as many. A smaller lead
is found so more often, by design.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpfl.words import vocabulary as words
from dpfl.words.numerals import known

REFUTED = frozenset({words.NOT_REPLICATED, words.REVERSED})
WEAKEST_FIRST = (words.TOO_FEW, words.NOT_RUN, words.INCONCLUSIVE, words.SMALL, words.REPLICATED)
MISMATCH_FIRST = (
    *(words.DEMONSTRATION, words.DIFFERS, words.TOO_FEW, words.NOT_RUN, words.INCONCLUSIVE),
    words.MATCHES,
)


def verdict(parts: Iterable[str]) -> str:
    """Return the verdict on the whole: one refuted part refutes it, else the weakest decides."""
    found = set(parts)
    if found & REFUTED:
        return words.REVERSED if found == {words.REVERSED} else words.NOT_REPLICATED
    return next((word for word in WEAKEST_FIRST if word in found), words.NOT_RUN)


def deciding(parts: Sequence[Mapping[str, Any]], whole: str) -> Mapping[str, Any]:
    """Return the row of the part that a verdict on the whole is due to, of several the worst off.

    One without a difference is worse off than any.
    """
    alike = REFUTED if whole in REFUTED else {whole}
    own = [part for part in parts if part["verdict"] in alike] or parts
    return min(own, key=lambda p: p["difference"] if known(p["difference"]) else -math.inf)


def matching(parts: Iterable[str]) -> str:
    """Return the verdict on several printed numbers: one that differs decides, or the weakest."""
    found = set(parts)
    return next((word for word in MISMATCH_FIRST if word in found), words.NOT_RUN)


def counted(parts: Sequence[str], noun: str) -> str:
    """Count how many of some printed numbers match, or just them where none is decided."""
    if not parts:
        return f"no {noun} at this scale"
    nouns = f"{noun}{'s' * (len(parts) != 1)}"
    if not {words.MATCHES, words.DIFFERS} & {*parts}:
        return f"{len(parts)} {nouns}"
    return f"{parts.count(words.MATCHES)} of {len(parts)} {noun}s match"
