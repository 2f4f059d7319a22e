"""False claims are rarely found to hold, at all looks together; as accurate, or no worse."""

import math

import judged
import numpy as np
import pytest
from claims_of_runs import (
    BEST,
    CONTROLS,
    ORDERING,
    RACE,
    RISES,
    drawn,
    exact,
    judge,
    named,
    ranks,
    two,
    verdict,
    verdicts,
)
from scipy import stats

from dpfl.seeds.pairing import Shares, family
from dpfl.seeds.verdicts import Equivalence
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import DIFFERS, HOLDS, INCONCLUSIVE, SMALL

REPEATS, FEW = 150, 80
"""Of a simulation; few where a claim has many parts, which take long to judge."""
ALL = 20
"""Seeds for all three looks."""


def bound(level, repeats=REPEATS):
    """Return how many false verdicts of some repeats a stated level allows, with 99.9 %."""
    return stats.binom.isf(1e-3, repeats, level)


def repeated(make, claim, repeats=REPEATS):
    """Return how often made-up evidence is found to show what is claimed."""
    rng = np.random.default_rng(20)
    return sum(verdict(make(rng), **claim) in (HOLDS, SMALL) for _ in range(repeats))


def test_equal_methods_are_rarely_found_in_order():
    found = repeated(lambda rng: two(90, 90, ALL, epsilons=(2.0,), rng=rng), ORDERING)
    assert 0 < found <= bound(0.025)


@pytest.mark.parametrize("claim", [ORDERING | {"worse": ["b", "c"]}, CONTROLS], ids=named)
def test_one_equal_opponent_among_beaten_ones_keeps_the_level(claim):
    found = repeated(lambda rng: drawn(rng, ALL, a=92, b=92, c=80), claim, FEW)
    assert 0 < found <= bound(0.025, FEW)


def test_equal_at_one_epsilon_keeps_the_level():
    def make(rng):
        means = {("a", 2.0): 92, ("b", 2.0): 92, ("a", 4.0): 95, ("b", 4.0): 90}
        return judged.found({(*key, ()): judged.normal(rng, at, ALL) for key, at in means.items()})

    assert 0 < repeated(make, ORDERING, FEW) <= bound(0.025, FEW)


def test_a_flat_setting_rarely_rises():
    found = repeated(lambda rng: ranks(rng, {10: 90, 50: 90, 200: 90, 500: 90}, seeds=ALL), RISES)
    assert 0 < found <= bound(0.025)


def test_a_tie_for_the_best_keeps_the_level():
    found = repeated(
        lambda rng: ranks(rng, {10: 80, 50: 90, 200: 90, 500: 80}, seeds=ALL), BEST, FEW
    )
    assert 0 < found <= bound(0.025, FEW)


def test_equal_speed_is_rarely_found_faster():
    def make(rng):
        start = rng.normal(0, 2, 10)

        def curve(method, epsilon, seed):
            at = start[seed + 5 * (method == "b")]
            return [1 / (1 + math.exp(-(t - 12 - at) / 3)) for t in range(30)]

        return exact(curve, a=90, b=90)

    assert repeated(make, RACE | {"accuracy": 50}, FEW) <= bound(1 / 32, FEW)


def test_a_printed_gain_that_is_ours_rarely_differs():
    """At a margin of nothing `differs` is a two-sided test, at 5 % over all looks."""
    rng = np.random.default_rng(4)
    claim = {"kind": "gap", "better": "a", "worse": "b", "points": 1.0}
    how = {"epsilons": (2.0,), "rng": rng, "margin": 0.0}
    evidence = (two(91, 90, ALL, **how) for _ in range(REPEATS))
    found = [verdict(one, **claim) for one in evidence]
    assert 0 < found.count(DIFFERS) <= bound(0.05)
    assert set(found) <= {DIFFERS, INCONCLUSIVE}


ALIKE = {"kind": "equivalence", "better": "a", "worse": ["b"]}
NO_WORSE = {**ALIKE, "asks": "no worse"}
HINDSIGHT = {**ALIKE, "worse": ["b", "c"], "against": "best"}


@pytest.mark.parametrize(
    ("lead", "alike", "no_worse"),
    [
        (0.0, words.HOLDS, words.HOLDS),
        (-0.8, words.INCONCLUSIVE, words.INCONCLUSIVE),
        (-3.0, words.DOES_NOT_HOLD, words.DOES_NOT_HOLD),
        (0.8, words.INCONCLUSIVE, words.HOLDS),
        (3.0, words.DOES_NOT_HOLD, words.HOLDS),
    ],
)
def test_a_difference_is_within_the_margin_or_beyond_it(lead, alike, no_worse):
    found = exact(a=90 + lead + np.array([-0.4, -0.2, 0, 0.2, 0.4]), b=90)
    assert (verdict(found, **ALIKE), verdict(found, **NO_WORSE)) == (alike, no_worse)
    assert verdict(found, **ALIKE, margin=5) == words.HOLDS


def test_the_p_is_that_of_the_harder_of_two_tests():
    gaps = np.array([-0.6, 0.1, 0.3, 0.5, 0.8])
    row = judge(exact(a=90 + gaps, b=90), **ALIKE).iloc[0]
    sides = [
        stats.ttest_1samp(gaps, end, alternative=way).pvalue
        for end, way in ((-1, "greater"), (1, "less"))
    ]
    assert row["p"] == pytest.approx(2 * max(sides))
    one = judge(exact(a=90 + gaps, b=90), **NO_WORSE).iloc[0]
    assert one["p"] == pytest.approx(2 * sides[0])


def test_more_failures_are_a_difference_unless_the_other_side_has_them():
    for shares, alike, no_worse in (
        (Shares(0, 5, 5, 5), words.DOES_NOT_HOLD, words.DOES_NOT_HOLD),
        (Shares(5, 5, 0, 5), words.DOES_NOT_HOLD, words.HOLDS),
    ):
        for below, expected in ((False, alike), (True, no_worse)):
            found = family({"a": [[]]}, {"a": []}, Equivalence(1.0, below=below), {"a": [shares]})
            assert found["a"].parts[0].verdict == expected


def test_the_best_in_hindsight_is_chosen_by_the_other_seeds():
    """b is best but for its first seed; without that seed c is behind by far."""
    b, c = np.array([80, 90, 90, 90, 90.0]), np.array([89, 81, 80, 80, 80.0])
    row = judge(exact(a=90, b=b, c=c), **HINDSIGHT).iloc[0]
    assert row["difference"] == pytest.approx((10 + 0 + 0 + 0 + 0) / 5)
    assert row["about"] == "a against the best of b and c, epsilon 2"
    assert {name.split("-")[0] for name in row["runs"].split()} == {"a", "b"}


@pytest.mark.parametrize("claim", [ALIKE, NO_WORSE], ids=["alike", "no worse"])
def test_a_difference_of_the_margin_keeps_the_level(claim):
    found = repeated(lambda rng: drawn(rng, ALL, a=89, b=90), claim)
    assert 0 < found <= bound(0.025)


def test_the_best_of_two_in_hindsight_keeps_what_is_said_of_it():
    """The other one lies so near that it is chosen often."""

    def make(rng):
        means = {"a": 89, "b": 90, "c": 89.7}
        return judged.found(
            {(m, 2.0, ()): judged.normal(rng, at, ALL, sd=0.6) for m, at in means.items()}
        )

    assert 0 < repeated(make, HINDSIGHT) <= bound(0.10)


def test_an_opponent_that_never_ran_leaves_the_best_open():
    assert set(verdicts(judge(exact(a=90), **HINDSIGHT))) == {words.NOT_RUN}
