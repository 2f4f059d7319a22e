"""The one-run audit of Steinke, Nasr and Jagielski 2023 (arXiv 2305.08846, theorem 5.2).

It assumes that every canary is one record, in or out by a fair coin of its own. The coins are
independent of each other and of all else. The guesses are made from what the run released alone.
Their number, `called`, was fixed before. Of the mechanism it assumes nothing: what is refuted is
(epsilon, delta)-DP itself, add or remove one record.

The theorem pays 2 m delta for the m canaries. So few of them (m <= 5000 at delta 1e-5) keep its
delta term small. While 2 m delta <= 1, p never falls as epsilon grows. It is the largest over i of
(1 - 2 m delta / i) P[W >= v] + (2 m delta / i) P[W >= v - i], and both chances grow. Beyond, a
bound still holds, since p rejects it, but p may reject a larger one too.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import bdtr, expit

from dpfl.privacy.events import require

PRECISION = 1e-9  # of a bound, which errs downwards


def right_calls(scores: np.ndarray, included: np.ndarray, called: int) -> int:
    """Return how many of the `called` highest scores [m] belong to included canaries [m] (bool).

    Equal scores are called in the order of their index. Raises UserError for more calls than
    canaries.
    """
    require("called", called, 0 <= called <= len(scores), f"in [0, {len(scores)}]")
    highest = np.argsort(-np.asarray(scores, dtype=float), kind="stable")[:called]
    return int(np.count_nonzero(np.asarray(included, dtype=bool)[highest]))


def p_value(epsilon: float, delta: float, right: int, called: int, canaries: int) -> float:
    """Return an upper bound on the chance of as many right calls under (epsilon, delta)-DP.

    It is beta + 2 m delta alpha, where W ~ Bin(called, e^epsilon / (1 + e^epsilon)). There beta =
    P[W >= right] and alpha = max over i of P[right > W >= right - i] / i. Raises UserError unless 0
    <= right <= called <= canaries.
    """
    require("called", called, 0 <= called <= canaries, f"in [0, {canaries}]")
    require("right", right, 0 <= right <= called, f"in [0, {called}]")
    # Counts the wrong calls, whose chance keeps its digits where epsilon is large.
    wrong = np.arange(called - right, called + 1)
    at_most = bdtr(wrong, called, expit(-epsilon))
    beta, more = at_most[0], np.arange(1, right + 1)
    alpha = np.max((at_most[1:] - beta) / more, initial=0.0)
    return float(min(beta + 2 * canaries * delta * alpha, 1.0))


def lower_bound(right: int, called: int, canaries: int, delta: float, level: float) -> float:
    """Return the largest epsilon that is rejected at `level` with this delta, 0 if none is.

    Raises UserError as `p_value` does, and for a delta or level out of range.
    """
    require("delta", delta, 0 <= delta < 1, "in [0, 1)")
    require("level", level, 0 < level < 1, "in (0, 1)")

    def excess(epsilon: float) -> float:
        return p_value(epsilon, delta, right, called, canaries) - level

    if excess(0.0) > 0:
        return 0.0
    above = 1.0
    while excess(above) <= 0:
        above *= 2
    return max(brentq(excess, 0.0, above, xtol=PRECISION) - 2 * PRECISION, 0.0)


def ceiling(called: int, canaries: int, delta: float, level: float) -> float:
    """Return the bound when every call is right: no run is told more by so many canaries."""
    return lower_bound(called, called, canaries, delta, level)
