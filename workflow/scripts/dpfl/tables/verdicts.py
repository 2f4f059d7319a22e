"""Verdicts: what the seeds of a study say about a published number, ordering or epsilon.

The rules are fixed before any result is seen. n is the number of seeds,
an interval is Student's over seeds, accuracies and margins are percentage points.
"""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from dpfl.errors import UserError
from dpfl.tables import published

LEVEL = 0.95
MIN_SEEDS = 5
"""A verdict about an ordering needs at least this many paired seeds."""

DEMONSTRATIONS = frozenset({"digits"})
"""Datasets that no source reports on, whatever their features."""


@dataclass(frozen=True)
class Interval:
    """Mean and Student's interval of n values; low, high and sd are None without a spread."""

    mean: float
    low: float | None
    high: float | None
    n: int
    sd: float | None


@dataclass(frozen=True)
class Comparison:
    """One paired comparison, adjusted for the others of its family."""

    interval: Interval
    p: float | None
    p_holm: float | None
    verdict: str


def demonstrates(dataset: str) -> bool:
    """Tell whether rows of a data set only show the machinery, and judge no claim."""
    return published.base(dataset) in DEMONSTRATIONS


def interval(values: Sequence[float], level: float = LEVEL) -> Interval:
    """Return Student's interval of the mean; UserError for a value that is not finite."""
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        raise UserError(f"an interval needs finite values, got {values.tolist()}")
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    if n < 2:
        return Interval(mean, None, None, n, None)
    sd = float(values.std(ddof=1))
    half = float(stats.t.ppf((1 + level) / 2, n - 1)) * sd / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n, sd)


def cell_verdict(measured: Interval, published: float, margin: float) -> str:
    """Judge a cell: `matches` inside published +- margin, `differs` wholly outside."""
    if measured.low is None or measured.high is None:
        return "inconclusive"
    if published - margin <= measured.low and measured.high <= published + margin:
        return "matches"
    outside = measured.high < published - margin or measured.low > published + margin
    return "differs" if outside else "inconclusive"


def of_ordering(measured: Interval, margin: float) -> str:
    """Judge a claim `better > worse` by the interval of the difference."""
    if measured.n < MIN_SEEDS or measured.low is None or measured.high is None:
        return "too few seeds"
    if measured.low > 0:
        return "replicated"
    return "not replicated" if measured.high < margin / 2 else "inconclusive"


def of_change(measured: Interval, margin: float) -> str:
    """Judge the open question what a change does, by the interval of changed - baseline."""
    if measured.n < MIN_SEEDS or measured.low is None or measured.high is None:
        return "too few seeds"
    if measured.low > 0:
        return "gains"
    if measured.high < 0:
        return "loses"
    within = -margin / 2 <= measured.low and measured.high <= margin / 2
    return "no difference" if within else "inconclusive"


def family(
    differences: Mapping[Hashable, Sequence[float]],
    margin: float,
    judge: Callable[[Interval, float], str] = of_ordering,
    level: float = LEVEL,
) -> dict[Hashable, Comparison]:
    """Test and judge comparisons that belong together (Holm 1979).

    `differences` holds, per comparison, one paired difference per seed (better - worse).
    The two-sided paired t-tests are ordered by p; the j-th smallest of m is tested, and its
    interval drawn, at level 1 - (1 - level) / (m - j + 1). Holm stops at the first test that
    does not reject: it and all later ones keep that test's level, so an interval excludes zero
    exactly if Holm rejects. A comparison without two seeds has no p and counts as the last.
    """
    p = {name: _paired_p(values) for name, values in differences.items()}
    ranked = sorted(p, key=lambda name: math.inf if p[name] is None else p[name])
    result, adjusted, stopped = {}, 0.0, None
    for rank, name in enumerate(ranked):
        tests_left = len(ranked) - rank
        raw = 1.0 if p[name] is None else p[name]
        adjusted = max(adjusted, min(1.0, tests_left * raw))
        if stopped is None and raw > (1 - level) / tests_left:
            stopped = tests_left
        own = interval(differences[name], 1 - (1 - level) / (stopped or tests_left))
        p_holm = None if p[name] is None else adjusted
        result[name] = Comparison(own, p[name], p_holm, judge(own, margin))
    return {name: result[name] for name in differences}


def privacy(claimed: float, certified: float | None, audited: float | None) -> str:
    """Judge a claimed epsilon: `refuted` by an audit, `unproven`, else `consistent`.

    A certificate counts only up to the claim. An infinite epsilon is no claim.
    """
    if math.isinf(claimed):
        return "no claim"
    if audited is not None and audited > claimed:
        return "refuted"
    return "consistent" if certified is not None and certified <= claimed else "unproven"


def _paired_p(values: Sequence[float]) -> float | None:
    measured = interval(values)
    if measured.sd is None:
        return None
    if measured.sd == 0:
        return 1.0 if measured.mean == 0 else 0.0
    t = measured.mean / (measured.sd / math.sqrt(measured.n))
    return float(2 * stats.t.sf(abs(t), measured.n - 1))
