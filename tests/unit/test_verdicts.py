"""Intervals and verdicts against scipy's own tests, hand-made Holm corrections and the rules."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import refuses
from scipy import stats

from dpfl.seeds import conjunction
from dpfl.seeds.verdicts import (
    LEVEL,
    PRIVACY,
    Interval,
    Ordering,
    cell_verdict,
    family,
    interval,
    of_ordering,
    p_at,
    privacy,
    worst,
)
from dpfl.words import numerals
from dpfl.words import vocabulary as words

RNG = np.random.default_rng(7)
values = st.lists(st.floats(-5, 5), min_size=5, max_size=12).filter(lambda v: np.std(v) > 1e-3)


def at(low: float, high: float, n: int = 5) -> Interval:
    return Interval((low + high) / 2, low, high, n, 0.1)


def test_interval_is_scipys() -> None:
    sample = RNG.normal(97, 0.3, 6)
    found = interval(sample)
    expected = stats.ttest_1samp(sample, 0).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert (found.n, found.mean) == (6, pytest.approx(sample.mean()))
    assert found.sd == pytest.approx(np.std(sample, ddof=1))


def test_below_three_values_there_is_no_interval_and_no_test() -> None:
    alone, two = interval([96.5]), interval([96.0, 97.0])
    assert (alone.mean, alone.n, two.mean, two.n) == (96.5, 1, 96.5, 2)
    assert np.isnan([alone.low, alone.high, alone.sd, two.low, two.high]).all()
    assert two.sd == pytest.approx(math.sqrt(0.5))
    assert math.isnan(interval([]).mean)
    assert math.isnan(family({"a": [0.5, 0.6]}, Ordering(1.0))["a"].p)


def test_values_must_be_finite() -> None:
    refuses("nan", interval, [97.0, math.nan])


@pytest.mark.parametrize("n", [1, 2, 4])
def test_a_cell_of_few_seeds_decides_nothing(n: int) -> None:
    few = interval(96.0 + np.linspace(-0.1, 0.1, n) * (n > 1))
    assert cell_verdict(few, published=96.0, margin=1.0) == words.TOO_FEW


def with_p(p: float, n: int = 6) -> np.ndarray:
    """Return n differences whose two-sided t-test has exactly this p."""
    shape = np.linspace(-1, 1, n)
    t = stats.t.isf(p / 2, n - 1)
    return shape + t * shape.std(ddof=1) / math.sqrt(n)


@given(st.lists(values, min_size=1, max_size=4))
def test_a_difference_is_told_exactly_if_holm_rejects(families: list[list[float]]) -> None:
    """The interval that is shown has 95 %, whatever the family."""
    for number, one in family(dict(enumerate(families)), Ordering(1.0)).items():
        told = one.verdict in (words.HOLDS, words.SMALL, words.OPPOSITE)
        if abs(one.p_holm - 0.05) > 1e-9:
            assert told == (one.p_holm < 0.05)
        assert one.interval == interval(families[number])


def test_a_p_of_one_test_is_not_adjusted() -> None:
    """Not even in the last bit, which would be told as "after Holm"."""
    for p in np.linspace(0.001, 0.999, 997):
        assert p_at(p, LEVEL) == p


def test_a_comparison_without_two_seeds_has_no_p_but_counts_for_holm() -> None:
    found = family({"a": [1.0], "b": with_p(0.03), "c": []}, Ordering(1.0))
    assert math.isnan(found["a"].p) and math.isnan(found["a"].p_holm)
    assert found["c"].interval.n == 0
    assert found["b"].p_holm == pytest.approx(0.09)


def test_equal_tests_of_a_family_have_one_level_in_any_order() -> None:
    tied = [0.30, 1.1, 0.7, 0.9, 0.62]
    values = {"a": tied, "b": tied, "c": [0.1, -0.1, 0.2, -0.2, 0.05]}
    one, other = (
        family(values, Ordering(0.6)),
        family(dict(reversed(values.items())), Ordering(0.6)),
    )
    assert one == other and one["a"] == one["b"]
    expected = stats.ttest_1samp(tied, 0)
    assert one["a"].p_holm == pytest.approx(3 * expected.pvalue)


def test_differences_without_spread() -> None:
    found = family({"a": [0.5] * 5, "b": [0.0] * 5}, Ordering(1.0))
    assert (found["a"].p, found["a"].verdict) == (0.0, words.SMALL)
    assert (found["b"].p, found["b"].verdict) == (1.0, words.NO_DIFFERENCE)


ends = st.floats(-3, 3)
intervals = st.tuples(ends, ends).map(sorted).map(lambda pair: at(*pair))
margins = st.floats(0.01, 2)


@given(intervals, margins)
@example(at(-0.5, 0.2), 1.0)
@example(at(-0.2, 0.5), 1.0)
@example(at(0.0, 0.0), 1.0)
def test_exactly_one_verdict_on_an_ordering_holds(measured: Interval, margin: float) -> None:
    """The regions are disjoint and cover the plane of all intervals, whatever order they have."""
    low, high, half = measured.low, measured.high, margin / 2
    regions = {
        words.HOLDS: half < low,
        words.SMALL: 0 < low <= half,
        words.OPPOSITE: high < 0,
        words.NO_DIFFERENCE: -half < low <= 0 <= high < half,
        words.DOES_NOT_HOLD: low <= -half and 0 <= high < half,
        words.INCONCLUSIVE: low <= 0 and high >= half,
    }
    assert [word for word, holds in regions.items() if holds] == [of_ordering(measured, margin)]


@given(intervals, margins)
@example(at(-0.5, 0.2), 1.0)
def test_sides_that_change_places_have_the_other_verdict(measured, margin) -> None:
    mirrored = at(-measured.high, -measured.low)
    here, there = (of_ordering(own, margin) for own in (measured, mirrored))
    assert (here in (words.HOLDS, words.SMALL)) == (there == words.OPPOSITE)
    assert (here == words.NO_DIFFERENCE) == (there == words.NO_DIFFERENCE)


@given(intervals, ends, margins)
@example(at(95.0, 97.0), 96.0, 1.0)
@example(at(94.9, 96.0), 96.0, 1.0)
def test_exactly_one_verdict_on_a_printed_number_holds(measured, printed, margin) -> None:
    inside = printed - margin <= measured.low and measured.high <= printed + margin
    outside = measured.high < printed - margin or printed + margin < measured.low
    assert not (inside and outside)
    expected = words.MATCHES if inside else words.DIFFERS if outside else words.INCONCLUSIVE
    assert cell_verdict(measured, printed, margin) == expected


FAILED = [words.DOES_NOT_HOLD, words.OPPOSITE, words.NO_DIFFERENCE]
PARTS = [words.HOLDS, words.SMALL, *FAILED, words.INCONCLUSIVE, words.TOO_FEW, words.NOT_RUN]


@given(st.lists(st.sampled_from(PARTS), min_size=1), st.randoms())
def test_a_conjunction_is_as_strong_as_its_weakest_part(parts: list, random: object) -> None:
    found = conjunction.verdict(parts)
    assert (found == words.HOLDS) == ({*parts} == {words.HOLDS})
    fails = not {*parts}.isdisjoint(FAILED)
    assert (found in FAILED) == fails
    assert (found.verdict == "open") == (not fails and any(p.verdict == "open" for p in parts))
    for alike in (words.OPPOSITE, words.NO_DIFFERENCE):
        assert (found == alike) == ({*parts} == {alike})
    assert found in (*parts, words.DOES_NOT_HOLD)
    random.shuffle(parts)
    assert conjunction.verdict(parts) == found


VERDICTS = [own for own in vars(words).values() if isinstance(own, words.Verdict)]


@pytest.mark.parametrize("own", VERDICTS, ids=" ".join)
@pytest.mark.parametrize("privacy", [*PRIVACY, "", math.nan])
def test_a_missing_proof_is_joined_to_what_holds_and_to_nothing_else(own, privacy) -> None:
    told = words.in_words(
        {"verdict": own.verdict, "needs": own.needs or math.nan, "privacy": privacy}
    )
    lacks = privacy in ("no proof", "refuted", "certificate refuted")
    joined = ", without a proof" * (lacks and own.verdict in ("holds", "holds, small", "matches"))
    assert told == own.verdict + joined + f": needs {own.needs}" * bool(own.needs)


@given(st.lists(values, min_size=1, max_size=4))
def test_holm_is_the_closure_of_bonferroni(families: list[list[float]]) -> None:
    """By closed testing: an adjusted p is the largest that Bonferroni gives any set it is in."""
    p = [stats.ttest_1samp(sample, 0).pvalue for sample in families]
    numbers = range(len(p))
    sets = [s for size in numbers for s in itertools.combinations(numbers, size + 1)]
    found = family(dict(enumerate(families)), Ordering(1.0))
    for i in numbers:
        closed = max(min(1.0, len(s) * min(p[j] for j in s)) for s in sets if i in s)
        assert found[i].p_holm == pytest.approx(closed)


CERTIFIED, CLAIMED = "audited above what is certified", "audited above what is claimed"
NOISE = "check broken: noise scale"


@pytest.mark.parametrize(
    ("claimed", "certified", "audited", "broken", "verdict", "reasons"),
    [
        (4.0, 3.99, None, (), "proven", ()),
        (4.0, 3.99, math.nan, (), "proven", ()),
        (4.0, 4.0, 3.1, (), "proven", ()),
        (4.0, 3.99, 3.99, (), "proven", ()),
        (4.0, None, 3.1, (), "no proof", ("no certificate",)),
        (4.0, math.nan, None, (), "no proof", ("no certificate",)),
        (4.0, 4.2, None, (), "no proof", ("certified above what is claimed",)),
        (4.0, None, 4.3, (), "refuted", (CLAIMED,)),
        (2.0, 4.2, 3.0, (), "refuted", (CLAIMED,)),
        (4.0, None, 0.1, ("noise scale",), "refuted", (NOISE,)),
        (4.0, None, 9.0, ("noise scale",), "refuted", (CLAIMED, NOISE)),
        (4.0, 0.77, 2.0, (), "certificate refuted", (CERTIFIED,)),
        (4.0, 3.99, 4.3, (), "certificate refuted", (CERTIFIED, CLAIMED)),
        (4.0, 3.99, None, ("noise scale",), "certificate refuted", (NOISE,)),
        (4.0, 3.99, 1.0, ("noise scale",), "certificate refuted", (NOISE,)),
        (2.0, 4.2, 3.0, ("noise scale",), "certificate refuted", (CLAIMED, NOISE)),
        (math.inf, 2.0, 3.0, (), "certificate refuted", (CERTIFIED,)),
        (math.inf, math.inf, None, (), "not private", ()),
        (math.inf, math.inf, 5.0, ("noise scale",), "not private", ()),
    ],
)
def test_privacy(claimed, certified, audited, broken, verdict, reasons) -> None:
    found = privacy(claimed, certified, audited, broken)
    assert (found.verdict, found.reasons) == (verdict, reasons)


epsilons = st.floats(0, 1e3) | st.just(math.inf)
unknown = st.sampled_from([None, math.nan])


@given(epsilons, epsilons | unknown, epsilons, st.lists(st.sampled_from("ab"), max_size=2))
def test_an_audit_above_a_certificate_or_a_claim_is_never_proven(
    claimed: float, certified: float | None, audited: float, broken: list[str]
) -> None:
    verdict = privacy(claimed, certified, audited, broken).verdict
    if certified is not None and audited > certified:
        assert verdict == "certificate refuted"
    if audited > claimed or (broken and math.isfinite(claimed)):
        assert verdict in ("certificate refuted", "refuted")
    assert verdict in PRIVACY


def test_the_worst_verdict_counts_with_all_its_reasons() -> None:
    runs = [privacy(4.0, 3.99, 1.0), privacy(4.0, 3.99, 5.0)]
    runs += [privacy(4.0, 3.99, 1.0, ["records"]), privacy(4.0, None, 9.0)]
    found = worst(runs)
    assert found.verdict == "certificate refuted"
    assert found.reasons == (CERTIFIED, CLAIMED, "check broken: records")
    assert worst(runs[:1]) == runs[0]


@given(low=st.floats(-1, 1), width=st.floats(0, 1))
@example(low=-0.004, width=0.0)
def test_ends_in_words_are_the_numbers_and_zero_has_one_sign(low: float, width: float) -> None:
    shown = numerals.ends(low, low + width)
    assert [float(end) for end in shown.strip(" []").split(", ")] == pytest.approx(
        [low, low + width], abs=0.00501
    )
    assert "-0.00" not in shown
    row = {"difference": low, "low": low, "high": low + width}
    assert "-0.00" not in numerals.difference(row)
