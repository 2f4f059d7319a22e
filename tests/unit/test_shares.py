"""How many runs trained decides where it differs, in the family of the paired comparisons."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpfl.seeds.pairing import Shares, family
from dpfl.seeds.verdicts import Ordering
from dpfl.words.vocabulary import HOLDS, OPPOSITE, SMALL, TOO_FEW

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
