"""What k rounds cost when nothing is known of a round but its (epsilon, delta).

`basic`, `advanced` and `square_root_rule` are textbook formulas (Dwork, Rothblum and
Vadhan 2010). `optimal` is the best that holds for every such mechanism (Kairouz, Oh and Viswanath
2015). An accountant that knows the mechanism does better than all of them.
"""

import math

import numpy as np
from scipy.optimize import brentq
from scipy.stats import binom

from dpfl.privacy.events import require, require_count

CLASSIC_BELOW = 1.0  # the epsilons for which the classic sigma is proven


def basic(epsilon: float, delta: float, k: int) -> tuple[float, float]:
    """Return (k epsilon, k delta). Raises UserError for an argument out of range."""
    _check(epsilon, delta)
    require_count("k", k, 1)
    return k * epsilon, k * delta


def advanced(epsilon: float, delta: float, k: int, slack: float) -> tuple[float, float]:
    """Return (epsilon sqrt(2 k ln(1/slack)) + k epsilon (exp(epsilon) - 1), k delta + slack).

    `slack` is the source's delta''. Epsilon is infinite where it overflows. Raises UserError for
    an argument out of range.
    """
    _check(epsilon, delta)
    require_count("k", k, 1)
    _check_slack(slack)
    total = epsilon * math.sqrt(2 * k * math.log(1 / slack)) + k * epsilon * _expm1(epsilon)
    return total, k * delta + slack


def crossover(epsilon: float, slack: float) -> int | None:
    """Return the first k at which `advanced` is below `basic`, or None if none is.

    That is 2 k ln(1/slack) < k^2 (2 - exp(epsilon))^2: never once exp(epsilon) - 1 >= 1.
    """
    require("epsilon", epsilon, 0 < epsilon < math.inf, "> 0 and finite")
    _check_slack(slack)
    gain = 1 - _expm1(epsilon)
    if gain <= 0:
        return None
    return math.floor(2 * math.log(1 / slack) / gain**2) + 1


def optimal(epsilon: float, delta: float, k: int, slack: float) -> tuple[float, float]:
    """Return the smallest epsilon that holds for every mechanism, at the delta of `advanced`.

    The worst case is k randomized responses (Kairouz, Oh and Viswanath 2015, theorem 3.3). Raises
    UserError for an argument out of range, or if k delta + slack is not below 1.
    """
    total = advanced(epsilon, delta, k, slack)[1]
    require("k delta + slack", total, total < 1, "< 1")
    survives = k * math.log1p(-delta)  # log of the chance that no round breaks its epsilon
    allowed = -math.expm1(math.log1p(-total) - survives)
    count = np.arange(k // 2 + 1)  # answers that lie, fewer than half: the others cost nothing
    chances = binom.pmf(count, k, 1 / (1 + math.exp(epsilon)))
    losses = (k - 2 * count) * epsilon

    def excess(found: float) -> float:
        return float(chances @ -np.expm1(np.minimum(found - losses, 0))) - allowed

    return (brentq(excess, 0, k * epsilon) if excess(0) > 0 else 0.0), total


def classic_sigma(epsilon: float, delta: float) -> float:
    """Return sqrt(2 ln(1.25/delta)) / epsilon, the classic noise multiplier.

    Proven for epsilon below CLASSIC_BELOW only (Dwork and Roth 2014, theorem A.1). Above, it is a
    formula, and too small from some epsilon on. Raises UserError for an argument out of range.
    """
    require("epsilon", epsilon, 0 < epsilon < math.inf, "> 0 and finite")
    require("delta", delta, 0 < delta < 1, "in (0, 1)")
    return math.sqrt(2 * math.log(1.25 / delta)) / epsilon


def square_root_rule(epsilon: float, delta: float, rounds: int) -> tuple[float, float]:
    """Return the round's share (epsilon / sqrt(T), delta / T) of an evenly divided budget.

    A rule of thumb, not a bound: composed again, the shares can exceed the budget.
    """
    _check(epsilon, delta)
    require_count("rounds", rounds, 1)
    return epsilon / math.sqrt(rounds), delta / rounds


def _check(epsilon: float, delta: float) -> None:
    require("epsilon", epsilon, 0 <= epsilon < math.inf, ">= 0 and finite")
    require("delta", delta, 0 <= delta < 1, "in [0, 1)")


def _check_slack(slack: float) -> None:
    require("slack", slack, 0 < slack < 1, "in (0, 1)")


def _expm1(epsilon: float) -> float:
    return math.expm1(epsilon) if epsilon < 700 else math.inf
