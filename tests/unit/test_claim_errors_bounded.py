"""False claims are rarely found to hold, whatever their kind."""

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
    named,
    ranks,
    two,
    verdict,
)
from scipy import stats

from dpfl.words.vocabulary import DIFFERS, HOLDS, INCONCLUSIVE, SMALL

REPEATS, FEW = 150, 80
"""Of a simulation; few where a claim has many parts, which take long to judge."""


def bound(level, repeats=REPEATS):
    """Return how many false verdicts of some repeats a stated level allows, with 99.9 %."""
    return stats.binom.isf(1e-3, repeats, level)


def repeated(make, claim, repeats=REPEATS):
    """Return how often made-up evidence is found to show what is claimed."""
    rng = np.random.default_rng(20)
    return sum(verdict(make(rng), **claim) in (HOLDS, SMALL) for _ in range(repeats))


def test_equal_methods_are_rarely_found_in_order():
    found = repeated(lambda rng: two(90, 90, epsilons=(2.0,), rng=rng), ORDERING)
    assert 0 < found <= bound(0.025)


@pytest.mark.parametrize("claim", [ORDERING | {"worse": ["b", "c"]}, CONTROLS], ids=named)
def test_one_equal_opponent_among_beaten_ones_keeps_the_level(claim):
    found = repeated(lambda rng: drawn(rng, a=92, b=92, c=80), claim, FEW)
    assert 0 < found <= bound(0.025, FEW)


def test_equal_at_one_epsilon_keeps_the_level():
    def make(rng):
        means = {("a", 2.0): 92, ("b", 2.0): 92, ("a", 4.0): 95, ("b", 4.0): 90}
        return judged.found({(*key, ()): judged.normal(rng, mean) for key, mean in means.items()})

    assert 0 < repeated(make, ORDERING, FEW) <= bound(0.025, FEW)


def test_a_flat_setting_rarely_rises():
    found = repeated(lambda rng: ranks(rng, {10: 90, 50: 90, 200: 90, 500: 90}), RISES)
    assert 0 < found <= bound(0.025)


def test_a_tie_for_the_best_keeps_the_level():
    found = repeated(lambda rng: ranks(rng, {10: 80, 50: 90, 200: 90, 500: 80}), BEST, FEW)
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
    """At a margin of nothing `differs` is a two-sided test at 5 %."""
    rng = np.random.default_rng(4)
    claim = {"kind": "gap", "better": "a", "worse": "b", "points": 1.0}
    evidence = (two(91, 90, epsilons=(2.0,), rng=rng, margin=0.0) for _ in range(REPEATS))
    found = [verdict(one, **claim) for one in evidence]
    assert 0 < found.count(DIFFERS) <= bound(0.05)
    assert set(found) <= {DIFFERS, INCONCLUSIVE}
