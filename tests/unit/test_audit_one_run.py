"""The one-run audit against jax-privacy, brute force, and mechanisms of known (epsilon, delta)."""

import math
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting import get_epsilon_gaussian
from refusals import refused
from scipy.special import expit
from scipy.stats import binom

from dpfl.audit.one_run import ceiling, lower_bound, p_value, right_calls

LEVEL, DELTA = 0.05, 1e-5

# jax-privacy 2.0.0, auditing._epsilon_one_run: right, called, canaries, delta, level, bound
BOUNDS = [
    (400, 400, 1000, 1e-5, 0.05, 4.863611160655742),
    (400, 400, 1000, 1e-5, 0.01, 4.395365623688629),
    (399, 400, 1000, 1e-5, 0.05, 4.411543448081554),
    (799, 800, 2000, 1e-5, 0.05, 5.092483851507328),
    (300, 400, 1000, 1e-5, 0.05, 0.9035143928157686),
    (210, 400, 1000, 1e-5, 0.05, 0.0),
    (350, 400, 5000, 1e-5, 0.05, 1.6858812916040922),
    (90, 100, 100, 0.0, 0.05, 1.6308231927421464),
    (90, 100, 100, 1e-3, 0.05, 1.5805597458013358),
    (20, 20, 50, 1e-5, 0.01, 1.347431711966355),
    (1900, 2000, 5000, 1e-5, 0.001, 2.3463776076941936),
]

# jax-privacy 2.0.0, auditing._one_run_p_value: epsilon, delta, right, called, canaries, p
P_VALUES = [
    (1.0, 1e-5, 350, 400, 1000, 0.00026490817949754254),
    (2.0, 1e-5, 350, 400, 1000, 0.6749618202454511),
    (2.0, 1e-3, 350, 400, 1000, 0.7789148317821711),
    (0.0, 1e-5, 220, 400, 1000, 0.02607497121559614),
    (4.0, 1e-5, 400, 400, 1000, 0.0025060074072353108),
    (0.5, 0.0, 60, 100, 100, 0.7162925722279619),
    (8.0, 1e-5, 1995, 2000, 5000, 0.9999354444653865),
    (2.0, 1e-2, 18, 20, 20, 0.6568759801226799),
]


@pytest.mark.parametrize(("right", "called", "canaries", "delta", "level", "bound"), BOUNDS)
def test_bounds_are_those_of_jax_privacy(right, called, canaries, delta, level, bound):
    found = lower_bound(right, called, canaries, delta, level)
    assert found == pytest.approx(bound, abs=2e-6)  # its search stops at 1e-6


@pytest.mark.parametrize(("epsilon", "delta", "right", "called", "canaries", "p"), P_VALUES)
def test_p_values_are_those_of_jax_privacy(epsilon, delta, right, called, canaries, p):
    assert p_value(epsilon, delta, right, called, canaries) == pytest.approx(p, rel=1e-9)


def brute_force(odds: int, delta: Fraction, right: int, called: int, canaries: int) -> Fraction:
    """The theorem term by term, in exact fractions, at e^epsilon = odds."""
    p = Fraction(odds, odds + 1)
    chance = [math.comb(called, w) * p**w * (1 - p) ** (called - w) for w in range(called + 1)]
    alpha = [sum(chance[max(right - i, 0) : right]) / i for i in range(1, canaries + 1)]
    return min(sum(chance[right:]) + 2 * canaries * delta * max(alpha), Fraction(1))


@pytest.mark.parametrize("odds", [1, 3, 50, 10**9, 10**30])
@pytest.mark.parametrize("right", [0, 1, 9, 18, 20])
def test_p_is_the_theorem_in_exact_fractions(odds, right):
    for delta in (Fraction(0), Fraction(1, 1000)):
        exact = float(brute_force(odds, delta, right, 20, 30))
        assert p_value(math.log(odds), float(delta), right, 20, 30) == pytest.approx(exact)


@pytest.mark.parametrize("right", [0, 100, 210, 350, 399, 400])
@pytest.mark.parametrize("delta", [0.0, 1e-5, 5e-4])  # 2 m delta up to 1
def test_p_never_falls_as_epsilon_grows(right, delta):
    found = [p_value(eps, delta, right, 400, 1000) for eps in [*np.linspace(0, 20, 400), 50, 800]]
    assert (np.diff(found) >= -1e-12).all()
    assert found[-1] == 1.0


@pytest.mark.parametrize("delta", [0.0, 1e-5, 2e-3])  # the last where p is not monotone
@pytest.mark.parametrize("right", [300, 399, 400])
def test_what_is_told_is_rejected_and_a_little_more_is_not(right, delta):
    bound = lower_bound(right, 400, 1000, delta, LEVEL)
    assert bound == 0 or p_value(bound, delta, right, 400, 1000) <= LEVEL
    assert p_value(bound + 1e-6, delta, right, 400, 1000) > LEVEL


def test_all_right_tells_the_ceiling():
    """At delta 0 every call is right with chance p^r: epsilon = log(p / (1 - p))."""
    p = LEVEL ** (1 / 400)
    assert ceiling(400, 1000, 0.0, LEVEL) == pytest.approx(math.log(p / (1 - p)), abs=1e-8)
    assert ceiling(400, 1000, DELTA, LEVEL) == lower_bound(400, 400, 1000, DELTA, LEVEL)
    assert 12 < ceiling(10**6, 10**6, 0.0, LEVEL) < 13


@pytest.mark.parametrize(("right", "called", "canaries"), [(200, 400, 1000), (0, 0, 0), (0, 0, 9)])
def test_half_right_or_nothing_called_tells_nothing(right, called, canaries):
    assert lower_bound(right, called, canaries, DELTA, LEVEL) == 0.0


def test_the_highest_scores_are_called_and_ties_by_index():
    scores = np.array([1.0, 3.0, 2.0, 3.0, 3.0])
    included = np.array([False, True, False, False, True])
    assert [right_calls(scores, included, called) for called in range(6)] == [0, 1, 1, 2, 2, 2]
    assert right_calls(np.zeros(0), np.zeros(0, bool), 0) == 0


test_arguments_out_of_range_are_told = refused(
    (lambda: right_calls(np.zeros(3), np.zeros(3, bool), 4), r"called is 4, .*\[0, 3\]"),
    (lambda: lower_bound(1, 5, 4, DELTA, LEVEL), r"called is 5, .*\[0, 4\]"),
    (lambda: lower_bound(3, 2, 4, DELTA, LEVEL), r"right is 3, .*\[0, 2\]"),
    (lambda: lower_bound(1, 2, 4, 1.0, LEVEL), r"delta is 1.0, .*\[0, 1\)"),
    (lambda: lower_bound(1, 2, 4, DELTA, 0.0), r"level is 0.0, .*\(0, 1\)"),
)


def share_above(truth: float, bounds: list[float]) -> float:
    """One-sided p of so many bounds above the truth if each is with chance LEVEL."""
    return binom.sf(sum(bound > truth for bound in bounds) - 1, len(bounds), LEVEL)


def audited(scores: np.ndarray, included: np.ndarray, delta: float) -> float:
    called = int(0.4 * len(scores))
    return lower_bound(right_calls(scores, included, called), called, len(scores), delta, LEVEL)


@pytest.mark.parametrize("epsilon", [0.0, 1.0, 3.0])
def test_bounds_on_randomised_response_hold_and_are_not_vacuous(epsilon):
    rng, bounds = np.random.default_rng(1), []
    for _ in range(400):
        included = rng.random(1000) < 0.5
        answers = included ^ (rng.random(1000) >= expit(epsilon))
        bounds.append(audited(answers.astype(float), included, 0.0))
    assert share_above(epsilon, bounds) > 1e-3
    assert np.median(bounds) >= 0.75 * epsilon


def test_bounds_on_gaussians_hold_and_without_noise_are_refuted():
    rng, bounds, truth = np.random.default_rng(2), [], get_epsilon_gaussian(0.5, DELTA)
    for _ in range(200):
        included = rng.random(1000) < 0.5
        bounds.append(audited(included + 0.5 * rng.standard_normal(1000), included, DELTA))
    assert share_above(truth, bounds) > 1e-3
    assert np.median(bounds) > 0.15 * truth  # one run sees little of a Gaussian's epsilon
    included = rng.random(1000) < 0.5
    assert audited(included.astype(float), included, DELTA) == ceiling(400, 1000, DELTA, LEVEL)


@pytest.mark.parametrize("delta", [0.001, 0.01, 0.05])
def test_p_covers_a_mechanism_that_betrays_all_coins_with_chance_delta(delta):
    """It is (epsilon, delta)-DP, and the chances of its right calls are known."""
    epsilon, called = 1.0, 20
    for right in range(called + 1):
        lawful = binom.sf(right - 1, called, expit(epsilon))
        chance = (1 - delta) * lawful + delta
        assert p_value(epsilon, delta, right, called, called) >= chance - 1e-12
    assert p_value(epsilon, 0.0, called, called, called) < (1 - delta) * lawful + delta


def test_the_package_does_not_import_torch(imported):
    assert not imported("from dpfl.audit import one_run, per_step, checks", "torch")
