"""The per-step audit against closed forms, jax-privacy, and exact Gaussians of known noise."""

import math

import numpy as np
import pytest
from closed_forms import gaussian_epsilon
from dp_accounting import get_epsilon_gaussian
from refusals import refused
from scipy.special import ndtr
from scipy.stats import binom, binomtest, norm

from dpfl.audit.per_step import Tally, ceiling, least_shift, lower_bound, poisson
from dpfl.privacy.accounting import epsilon

LEVEL, DELTA = 0.05, 1e-5
GRID = 2e-3  # what PLD may lie above a closed form

# jax-privacy 2.0.0, CanaryScoreAuditor.epsilon_from_gdp on 0/1 scores at three times the level,
# for it pays for three thresholds: ins, misses, outs, false alarms, level, epsilon at 1e-5
GAUSSIANS = [
    (500, 60, 480, 70, 0.05, 9.641471234696299),
    (20000, 6170, 20100, 6210, 0.05, 4.187806414934461),
    (100, 0, 100, 0, 0.05, 21.120338436778365),
    (5000, 2300, 5000, 2290, 0.01, 0.3927049513321888),
]


def tally(ins=0, misses=0, outs=0, false_alarms=0, noise_multiplier=1.0, steps=1) -> Tally:
    return Tally(noise_multiplier, steps, ins, misses, outs, false_alarms)


@pytest.mark.parametrize(("ins", "misses", "outs", "false", "level", "bound"), GAUSSIANS)
def test_one_full_step_is_the_bound_of_jax_privacy(ins, misses, outs, false, level, bound):
    found = lower_bound([tally(ins, misses, outs, false)], poisson(1.0, DELTA), level)
    assert found == pytest.approx(bound, abs=GRID)


@pytest.mark.parametrize("coins", [(30, 4, 28, 5), (1000, 308, 990, 300), (7, 0, 9, 1)])
def test_the_shift_is_that_of_scipys_exact_intervals(coins):
    ins, misses, outs, false = coins

    def upper(errors, n):
        test = binomtest(errors, n, alternative="less")
        return test.proportion_ci(1 - LEVEL / 2, method="exact").high

    expected = norm.isf(upper(false, outs)) - norm.ppf(upper(misses, ins))
    assert least_shift(tally(*coins), LEVEL) == pytest.approx(max(expected, 0), rel=1e-6)


def test_one_sampled_step_is_priced_with_its_rate():
    seen = tally(20000, 3000, 20000, 3100)
    exact = gaussian_epsilon(least_shift(seen, LEVEL), DELTA, q=0.1)
    assert lower_bound([seen], poisson(0.1, DELTA), LEVEL) == pytest.approx(exact, abs=GRID)


def test_tallies_compose_and_share_the_level():
    """Full batches compose to one Gaussian whose squared shift is the sum of the steps'."""
    two = [tally(900, 300, 900, 310, steps=3), tally(800, 350, 820, 360, 2.0, steps=8)]
    shift = math.hypot(*(least_shift(t, LEVEL / 2) * math.sqrt(t.steps) for t in two))
    found = lower_bound(two, poisson(1.0, DELTA), LEVEL)
    assert found == pytest.approx(get_epsilon_gaussian(1 / shift, DELTA), abs=GRID)


@pytest.mark.parametrize(
    "nothing",
    [
        tally(),
        tally(ins=1000),
        tally(outs=1000),
        tally(1000, 1000, 1000, 1000),  # all wrong
        tally(1000, 500, 1000, 500),  # all guessed
        tally(1000, 0, 1000, 1000),
        tally(1000, 480, 1000, 480),
    ],
)
def test_nothing_told_costs_nothing(nothing):
    assert lower_bound([nothing], poisson(0.1, DELTA), LEVEL) == 0.0
    told = tally(1000, 200, 1000, 200)
    both = lower_bound([told, nothing], poisson(1.0, DELTA), LEVEL)
    assert both == lower_bound([told], poisson(1.0, DELTA), LEVEL / 2) > 0
    assert lower_bound([], poisson(0.1, DELTA), LEVEL) == 0.0


def test_a_faint_shift_is_priced_near_nothing():
    faint = next(
        t for k in range(10**6, 0, -1) if least_shift(t := tally(2 * 10**6, k, 2 * 10**6, k), LEVEL)
    )
    assert 0 <= lower_bound([faint], poisson(0.01, DELTA), LEVEL) < 1e-2


def simulated(rng: np.random.Generator, noise: float, coins: int, steps: int = 1) -> Tally:
    """Toss the coins, add the noise, and tell each by half of the shift."""
    included = rng.random(coins) < 0.5
    told = included + noise * rng.standard_normal(coins) > 0.5
    ins, outs = np.count_nonzero(included), np.count_nonzero(~included)
    misses, false = np.count_nonzero(included & ~told), np.count_nonzero(told & ~included)
    return Tally(noise, steps, ins, misses, outs, false)


@pytest.mark.parametrize("noise", [0.4, 1.0, 3.0])
@pytest.mark.parametrize("coins", [60, 2000, 40000])
def test_the_shift_of_exact_gaussians_is_exceeded_in_at_most_the_level(noise, coins):
    rng = np.random.default_rng(1)
    above = sum(least_shift(simulated(rng, noise, coins), LEVEL) > 1 / noise for _ in range(400))
    assert above <= binom.ppf(1 - 1e-3, 400, LEVEL)


@pytest.mark.parametrize(("q", "noise", "steps"), [(1.0, 2.0, 1), (0.01, 0.8, 500)])
def test_the_bound_is_near_the_truth_and_refutes_less_noise(q, noise, steps):
    """Epsilon grows with the shift, so that the median shift has the median bound."""
    rng, truth = np.random.default_rng(2), epsilon(q, noise, steps, DELTA)
    runs = [simulated(rng, noise, 40000, steps) for _ in range(200)]
    runs.sort(key=lambda run: least_shift(run, LEVEL))
    median = lower_bound([runs[100]], poisson(q, DELTA), LEVEL)
    assert 0.8 * truth <= median <= truth
    assert lower_bound([runs[188]], poisson(q, DELTA), LEVEL) <= truth  # 94 % of the runs
    assert median == pytest.approx(ceiling([runs[0]], poisson(q, DELTA), LEVEL), rel=0.05)
    halved = simulated(rng, noise / 2, 40000, steps)
    assert lower_bound([halved], poisson(q, DELTA), LEVEL) > truth


def test_the_ceiling_ignores_what_was_seen():
    seen = [tally(4000, 100, 3900, 90), tally(4000, 3900, 3900, 3900)]
    expected = round(4000 * ndtr(-0.5)), round(3900 * ndtr(-0.5))
    exact = tally(4000, expected[0], 3900, expected[1])
    found = [ceiling([one], poisson(0.2, DELTA), LEVEL) for one in seen]
    assert found == [lower_bound([exact], poisson(0.2, DELTA), LEVEL)] * 2


test_arguments_out_of_range_are_told = refused(
    (lambda: tally(ins=3, misses=4), r"misses is 4, must be in \[0, 3\]"),
    (lambda: tally(outs=3, false_alarms=-1), r"false_alarms is -1, must be in \[0, 3\]"),
    (lambda: tally(noise_multiplier=0.0), r"noise_multiplier is 0.0, must be > 0"),
    (lambda: lower_bound([tally(9, 0, 9, 0)], poisson(0.1, DELTA), 1.0), r"level is 1.0"),
    (lambda: lower_bound([tally(9, 0, 9, 0)], poisson(0.0, DELTA), LEVEL), r"sample_rate is 0.0"),
)
