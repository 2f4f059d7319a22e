"""Which runs trained, against the rule itself, and how many did as a part of verdicts."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpfl.seeds import outcomes
from dpfl.seeds.pairing import Shares, family
from dpfl.seeds.verdicts import Ordering
from dpfl.words.vocabulary import HOLDS, OPPOSITE, SMALL, TOO_FEW

CHANCE = 15.0


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([90.7, 55.7, 11.4], 2),  # seeds may spread
        ([98.6, 98.5, 98.7, 98.6, 9.8], 4),
        ([11.4, 9.8, 15.0], 0),
        ([15.1], 1),
        ([90.0, np.nan], 1),
        ([], 0),
    ],
)
def test_runs_that_trained(values, count):
    assert outcomes.trained(values, CHANCE).sum() == count


@pytest.mark.parametrize(("k", "n"), [(0, 3), (1, 3), (3, 3), (4, 5), (2, 10), (10, 10)])
def test_the_share_has_the_tails_of_clopper_and_pearson(k, n):
    low, high = outcomes.share(k, n)
    assert low == 0 if k == 0 else stats.binom.sf(k - 1, n, low) == pytest.approx(0.025)
    assert high == 1 if k == n else stats.binom.cdf(k, n, high) == pytest.approx(0.025)


def cell(values):
    runs = pd.DataFrame({"accuracy": values})
    return runs.assign(trained=outcomes.trained(values, CHANCE))


def test_a_cell_has_two_outcomes():
    found = outcomes.outcome(cell([90.0, 91.0, 92.0, 10.0]))
    assert (found.n, found.trained, found.mean) == (4, 3, 91)
    expected = stats.ttest_1samp([90, 91, 92], 0).confidence_interval(0.95)
    assert found.accuracy.high == pytest.approx(expected.high)
    spread = outcomes.outcome(cell([57.0, 60, 64, 68, 72]))  # none of them has failed
    assert (spread.trained, spread.mean) == (5, pytest.approx(64.2))


@pytest.mark.parametrize(
    ("values", "trained", "mean"), [([90.0, 92.0, 10.0], 2, 91), ([10.0, 12.0], 0, 11)]
)
def test_below_three_trained_runs_there_is_no_interval(values, trained, mean):
    found = outcomes.outcome(cell(values))
    assert (found.trained, found.mean) == (trained, mean)
    assert np.isnan(found.accuracy.low) and np.isnan(found.accuracy.high)


APART = Shares(0, 5, 5, 5)
ALL = Shares(5, 5, 5, 5)
LEAD = np.array([1.0, 1.1, 0.9, 1.2, 0.8])


def judged(samples: dict, shares: dict) -> dict:
    pooled = {name: own[0] for name, own in samples.items()}
    return family(samples, pooled, Ordering(1.0), shares)


def test_none_of_five_against_all_of_five_is_a_result():
    assert APART.p == pytest.approx(2 / 252)  # of the ways to choose the five that fail
    (part,) = judged({"a": [[]]}, {"a": [APART]})["a"].parts
    assert part.verdict == OPPOSITE
    assert part.p == APART.p
    (part,) = judged({"a": [[]]}, {"a": [Shares(5, 5, 0, 5)]})["a"].parts
    assert part.verdict == HOLDS


def test_one_failure_of_five_decides_nothing():
    (part,) = judged({"a": [LEAD[:4]]}, {"a": [Shares(4, 5, 5, 5)]})["a"].parts
    assert part.verdict == TOO_FEW


@pytest.mark.parametrize(
    ("lead", "share", "verdict"),
    [
        (-LEAD, Shares(4, 5, 5, 5), OPPOSITE),  # it fails, and it is worse where it trains
        (LEAD, Shares(5, 5, 4, 5), HOLDS),
        (-LEAD, Shares(5, 5, 4, 5), TOO_FEW),
        (-LEAD, Shares(4, 4, 4, 5), TOO_FEW),
        (LEAD, Shares(4, 5, 4, 5), TOO_FEW),
    ],
)
def test_four_pairs_of_five_tell_against_the_side_that_failed(lead, share, verdict):
    (part,) = judged({"a": [lead[:4]]}, {"a": [share]})["a"].parts
    assert part.verdict == verdict


def test_it_decides_against_a_lead_of_those_that_trained():
    (part,) = judged({"a": [LEAD]}, {"a": [Shares(5, 20, 20, 20)]})["a"].parts
    assert part.verdict == OPPOSITE


def test_it_is_one_of_the_tests_of_the_family():
    """With as many opponents as 1 / p of the test, Holm does not reject it."""
    many = {n: [[]] for n in range(7)}
    found = judged(many, {key: [APART] for key in many})
    assert {part.verdict for own in found.values() for part in own.parts} == {TOO_FEW}


def test_where_no_run_failed_nothing_changes():
    samples = {"a": [LEAD, LEAD / 2], "b": [LEAD * 2, LEAD]}
    assert judged(samples, {key: [ALL, ALL] for key in samples}) == judged(samples, {})


@given(st.integers(0, 8), st.integers(0, 8))
def test_sides_turned_round_have_the_same_p(first, second):
    shares = Shares(first, 8, second, 8), Shares(second, 8, first, 8)
    assert shares[0].p == pytest.approx(shares[1].p)


def test_runs_are_counted_by_what_is_marked():
    sides = [pd.DataFrame({"trained": own}) for own in ([True, False], [True] * 3)]
    assert Shares.count(*sides) == Shares(1, 2, 3, 3)


def test_equal_sides_are_rarely_found_apart():
    """Both sides fail as often and are as accurate: Holm keeps 5 % over both tests of each pair."""
    rng, repeats, wrong = np.random.default_rng(1), 300, 0
    for _ in range(repeats):
        trained = rng.random((2, 2, 20)) > 0.3
        samples = {n: [rng.normal(0, 1, own.all(0).sum())] for n, own in enumerate(trained)}
        shares = {n: [Shares(own[0].sum(), 20, own[1].sum(), 20)] for n, own in enumerate(trained)}
        parts = [part for own in judged(samples, shares).values() for part in own.parts]
        wrong += any(part.verdict in (HOLDS, SMALL, OPPOSITE) for part in parts)
    assert wrong <= stats.binom.ppf(0.999, repeats, 0.05)
