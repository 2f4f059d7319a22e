"""How the verdicts on the parts of a claim add up: it holds only if every part of it does.

A conjunction of tests at one level each has at most that level (intersection-union, Berger 1982).
So a claim that is false in one part is found to hold no more often than that part. The other way it
is weaker. A part whose true lead is at least half the margin is found not to hold in at most 2.5 %
of cases. A whole of k such parts is found so in at most k times as many. A smaller lead is found so
more often, by design.

Where one part does not hold, or makes no difference, the whole `does not hold`. It is `opposite`,
or makes `no difference`, only if every part is so. Else it is open if a part is.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dpfl.words import vocabulary as words
from dpfl.words.numerals import known
from dpfl.words.vocabulary import Verdict

FAILED = frozenset({words.DOES_NOT_HOLD, words.OPPOSITE, words.NO_DIFFERENCE})
UNLIKE = (words.OTHER_NEIGHBOURS, words.NOT_TUNED, words.FEWER_TRIALS)
LACKING = (words.TOO_FEW, words.NOT_RUN, *UNLIKE, words.INCONCLUSIVE)
WEAKEST_FIRST = (*LACKING, words.SMALL, words.HOLDS)
MISMATCH_FIRST = (words.DEMONSTRATION, words.SHORTER, words.DIFFERS, *LACKING, words.MATCHES)


def verdict(parts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on the whole: one part that fails decides it, else the weakest."""
    found = set(parts)
    if found & FAILED:
        return found.pop() if len(found) == 1 else words.DOES_NOT_HOLD
    return next((word for word in WEAKEST_FIRST if word in found), words.NOT_RUN)


def deciding(parts: Sequence[Mapping[str, Any]], whole: Verdict) -> Mapping[str, Any]:
    """Return the row of the part that a verdict on the whole is due to, of several the worst off.

    One without a difference is worse off than any.
    """
    alike = FAILED if whole in FAILED else {whole}
    own = [part for part in parts if words.verdict_of(part) in alike] or parts
    return min(own, key=lambda p: p["difference"] if known(p["difference"]) else -math.inf)


def matching(parts: Iterable[Verdict]) -> Verdict:
    """Return the verdict on several printed numbers: one that differs decides, or the weakest."""
    found = set(parts)
    return next((word for word in MISMATCH_FIRST if word in found), words.NOT_RUN)


def counted(parts: Sequence[Verdict], noun: str) -> str:
    """Count how many of some printed numbers match, or just them where none is decided."""
    if not parts:
        return f"no {noun} at this scale"
    nouns = f"{noun}{'s' * (len(parts) != 1)}"
    if not {words.MATCHES, words.DIFFERS} & {*parts}:
        return f"{len(parts)} {nouns}"
    return f"{parts.count(words.MATCHES)} of {len(parts)} {noun}s match"
