"""Verdicts: what seeds say about a published number, an ordering, a change or an epsilon.

n is the number of seeds, an interval is Student's over seeds, accuracies and margins are
percentage points. Tests are those of a look (dpfl.seeds.looks); what is only told has LEVEL.
"""

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from dpfl.base.errors import UserError
from dpfl.seeds import looks
from dpfl.words import vocabulary as words

LEVEL = 0.95
MIN_SEEDS = looks.SEEDS[0]
"""A verdict needs at least this many seeds, paired ones for an ordering or a change."""
MIN_SPREAD = 3
"""An interval or a test needs at least this many: with two, the quantile of t is 12.7."""
PRIVACY = (*words.BEATEN, words.NO_PROOF, words.PROVEN, words.NOT_PRIVATE)
"""Verdicts on a claimed epsilon, the worst first."""
LEADS, LAGS = (words.HOLDS, words.SMALL), (words.OPPOSITE, words.DOES_NOT_HOLD)
"""Verdicts for the side that is said to be better, and against it."""


@dataclass(frozen=True)
class Interval:
    """Mean and Student's interval of n values; low and high are nan below MIN_SPREAD of them.

    The standard deviation `sd` is nan below two.
    """

    mean: float
    low: float
    high: float
    n: int
    sd: float

    @property
    def few(self) -> bool:
        """Tell whether the values are too few for a verdict."""
        return self.n < MIN_SEEDS


@dataclass(frozen=True)
class Comparison:
    """One paired comparison; p_holm and the verdict take account of the others of its family.

    The interval does not, so that a pair has one at a look. p is that of one test at one look, nan
    below MIN_SPREAD. p_holm is larger by what looks and family cost: it decides below 5 %.
    """

    interval: Interval
    p: float
    p_holm: float
    verdict: words.Verdict


NOTHING = Comparison(
    Interval(math.nan, math.nan, math.nan, 0, math.nan), math.nan, math.nan, words.NOT_RUN
)
"""A comparison of which one side was not run."""


@dataclass(frozen=True)
class Privacy:
    """A verdict on a claimed epsilon, one of PRIVACY, and its reasons."""

    verdict: str
    reasons: tuple[str, ...] = ()


def interval(values: Sequence[float], level: float = LEVEL, least: float = 0.0) -> Interval:
    """Return Student's interval of the mean; UserError for a value that is not finite.

    `least` is the least standard deviation of values, such as that of their rounding: equal ones
    would have none.
    """
    values = np.asarray(values, dtype=float)
    if not np.isfinite(values).all():
        raise UserError(f"an interval needs finite values, got {values.tolist()}")
    n = len(values)
    mean = float(values.mean()) if n else math.nan
    sd = float(values.std(ddof=1)) if n > 1 else math.nan
    if n < MIN_SPREAD:
        return Interval(mean, math.nan, math.nan, n, sd)
    half = float(special.stdtrit(n - 1, (1 + level) / 2)) * max(sd, least) / math.sqrt(n)
    return Interval(mean, mean - half, mean + half, n, sd)


def cell_verdict(measured: Interval, published: float, margin: float) -> words.Verdict:
    """Judge a cell: `matches` inside published +- margin, `differs` wholly outside."""
    if measured.few:
        return words.TOO_FEW
    if published - margin <= measured.low and measured.high <= published + margin:
        return words.MATCHES
    outside = measured.high < published - margin or measured.low > published + margin
    return words.DIFFERS if outside else words.INCONCLUSIVE


def of_ordering(measured: Interval, margin: float) -> words.Verdict:
    """Judge whether `better > worse`, by the interval of the difference.

    It `holds` above half the margin, `holds, small` above 0. Below 0 the `opposite` holds. There is
    `no difference` if all of it lies within half the margin of 0. Below half the margin it `does
    not hold`. Else it is open.
    """
    if measured.few:
        return words.TOO_FEW
    if measured.low > 0:
        return words.HOLDS if measured.low > margin / 2 else words.SMALL
    if measured.high < 0:
        return words.OPPOSITE
    if measured.high >= margin / 2:
        return words.INCONCLUSIVE
    return words.NO_DIFFERENCE if measured.low > -margin / 2 else words.DOES_NOT_HOLD


@dataclass(frozen=True)
class Ordering:
    """What is asked of differences, better - worse: whether they are above zero.

    `margin` is in their units. `least` is the least standard deviation that they have.
    """

    margin: float
    least: float = 0.0

    def p(self, values: Sequence[float]) -> float:
        """Return the two-sided p of one sample; nan below MIN_SPREAD."""
        return p_value(values, self.least)

    def together(self, samples: Iterable[Sequence[float]]) -> float:
        """Return the p of several samples together, the largest of theirs at the least."""
        return p_together(samples, self.least)

    def verdict(self, measured: Interval) -> words.Verdict:
        """Judge the interval of the difference."""
        return of_ordering(measured, self.margin)

    def by_share(self, ahead: bool) -> words.Verdict:
        """Judge a difference of how many runs trained; `ahead`: more of the better side did."""
        return words.HOLDS if ahead else words.OPPOSITE

    def compare(self, values: Sequence[float], level: float = looks.LEVEL) -> Comparison:
        """Judge one sample at a level; the interval that is shown has that of a look."""
        p = self.p(values)
        verdict = self.verdict(interval(values, level, self.least))
        return Comparison(interval(values, looks.LEVEL, self.least), p, p_at(p, level), verdict)


@dataclass(frozen=True)
class Equivalence(Ordering):
    """Asks whether differences are within the margin of zero, by two one-sided tests.

    Each has half of the error of a look (Schuirmann 1987). With `below` alone, one asks whether
    they are above minus the margin: a better side that leads by more is no worse.
    """

    below: bool = False

    def p(self, values: Sequence[float]) -> float:
        """Return twice the larger p of the tests, as two-sided ones count; nan if too few."""
        near, far = self.margin + np.asarray(values), self.margin - np.asarray(values)
        sides = [near] if self.below else [near, far]
        return float(np.minimum(1.0, 2 * np.max([p_above(own, self.least) for own in sides])))

    def together(self, samples: Iterable[Sequence[float]]) -> float:
        """Return the p of several samples together, the largest of theirs."""
        found = [self.p(sample) for sample in samples]
        return float(np.max(found)) if found else math.nan

    def verdict(self, measured: Interval) -> words.Verdict:
        """Judge the interval of the difference: within the margin, or wholly beyond it."""
        if measured.few:
            return words.TOO_FEW
        highest = math.inf if self.below else self.margin
        if -self.margin < measured.low and measured.high < highest:
            return words.HOLDS
        beyond = measured.high < -self.margin or measured.low > highest
        return words.DOES_NOT_HOLD if beyond else words.INCONCLUSIVE

    def by_share(self, ahead: bool) -> words.Verdict:
        """Judge a difference of how many runs trained: it is one, which `below` may be for."""
        return words.HOLDS if ahead and self.below else words.DOES_NOT_HOLD


def tone(row: Mapping[str, Any]) -> str:
    """Return `good`, `doubt` for what holds without a proof, `bad`, `even` or `open`: a colour.

    The row of a table has it in `verdict`, with `needs` and `privacy`.
    """
    own = row["verdict"]
    if own in words.GOOD:
        return "good" if words.in_words(row) == own else "doubt"
    if own == words.NO_DIFFERENCE.verdict:
        return "even"
    return "bad" if own in words.BAD else "open"


def family(
    differences: Mapping[Hashable, Sequence[float]], asked: Ordering
) -> dict[Hashable, Comparison]:
    """Test and judge comparisons that belong together (Holm 1979).

    `differences` holds, per comparison, one paired difference per seed (better - worse). The
    verdict is by the interval at the level of Holm's step.
    """
    levels = holm({name: asked.p(values) for name, values in differences.items()})
    found = {name: asked.compare(own, levels[name][1]) for name, own in differences.items()}
    return {name: replace(one, p_holm=levels[name][0]) for name, one in found.items()}


def holm(p: Mapping[Hashable, float]) -> dict[Hashable, tuple[float, float]]:
    """Return the adjusted p of each test of a family, and the level its interval is drawn at.

    The j-th smallest of m has the error of a look, divided by m - j + 1. Equal ones count as the
    first of them. Holm stops at the first test that does not reject: it and all later ones keep
    that test's level. A test without a p, nan, counts as the last.
    """
    ranked = sorted(p, key=lambda name: math.inf if math.isnan(p[name]) else p[name])
    result, adjusted, stopped, tests_left, before = {}, 0.0, None, 0, math.nan
    for rank, name in enumerate(ranked):
        tests_left = tests_left if p[name] == before else len(ranked) - rank
        before = p[name]
        raw = 1.0 if math.isnan(p[name]) else p[name]
        adjusted = max(adjusted, p_at(raw, _level(tests_left)))
        if stopped is None and raw > 1 - _level(tests_left):
            stopped = tests_left
        p_holm = math.nan if math.isnan(p[name]) else adjusted
        result[name] = (p_holm, _level(stopped or tests_left))
    return result


def _level(tests: int) -> float:
    """Return the level of one of so many tests at a look."""
    return 1 - (1 - looks.LEVEL) / tests


def p_at(p: float, level: float) -> float:
    """Return the p of a test, adjusted by the level that it is at: it rejects up to 5 %."""
    return float(np.minimum(1.0, p * ((1 - LEVEL) / (1 - level))))


def p_value(values: Sequence[float], least: float = 0.0) -> float:
    """Return the two-sided p of the paired t-test of some differences; nan below MIN_SPREAD."""
    above = p_above(values, least)
    return 2 * min(above, 1 - above)


def p_above(values: Sequence[float], least: float = 0.0) -> float:
    """Return the p of the paired t-test against "not above zero"; nan below MIN_SPREAD."""
    measured = interval(values)
    sd = max(measured.sd, least)
    if measured.n < MIN_SPREAD:
        return math.nan
    if sd == 0:
        return 0.5 - 0.5 * float(np.sign(measured.mean))
    t = measured.mean / (sd / math.sqrt(measured.n))
    return float(special.stdtr(measured.n - 1, -t))


def p_together(samples: Iterable[Sequence[float]], least: float = 0.0) -> float:
    """Return the two-sided p that all differences point one way; nan if one sample is too small.

    It is the largest p of the parts; if they point both ways it is 1, whatever their own are.
    """
    above = [p_above(sample, least) for sample in samples]
    return float(np.min([1.0, 2 * np.max(above), 2 * (1 - np.min(above))])) if above else math.nan


def privacy(
    claimed: float,
    certified: float | None,
    audited: float | None,
    broken: Sequence[str] = (),
    comparable: bool = True,
) -> Privacy:
    """Judge the epsilon that one run claims, by its certificate and its audit.

    `audited` is the lower bound that an audit found, `broken` names its checks of noise and
    sampling that failed. None or nan is what is not known. A certificate below the bound, or one
    whose run fails a check, is refuted whatever is claimed. Its proof is of other noise or other
    batches. Below the claim a certificate makes it `proven`. An infinite epsilon is not private. A
    claim is not `comparable` with an audit of another adjacency.
    """
    proof, bound = _known(certified), _known(audited)
    limits = {"certified": proof} | ({"claimed": claimed} if comparable else {})
    beaten = [word for word, limit in limits.items() if _above(bound, limit)]
    reasons = [f"audited above what is {word}" for word in beaten]
    reasons += [f"check broken: {name}" for name in broken]
    if "certified" in beaten or (broken and proof is not None and math.isfinite(proof)):
        return Privacy(words.ALARM, tuple(reasons))
    if math.isinf(claimed):
        return Privacy(words.NOT_PRIVATE)
    if reasons:
        return Privacy(words.REFUTED, tuple(reasons))
    if proof is None:
        return Privacy(words.NO_PROOF, ("no certificate",))
    if proof > claimed:
        return Privacy(words.NO_PROOF, ("certified above what is claimed",))
    return Privacy(words.PROVEN)


def worst(judged: Iterable[Privacy]) -> Privacy:
    """Return the worst of some verdicts on privacy, with all reasons that were given for it."""
    found = list(judged)
    verdict = min((one.verdict for one in found), key=PRIVACY.index)
    reasons = (reason for one in found if one.verdict == verdict for reason in one.reasons)
    return Privacy(verdict, tuple(dict.fromkeys(reasons)))


def _above(bound: float | None, limit: float | None) -> bool:
    return bound is not None and limit is not None and bound > limit


def _known(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else float(value)
