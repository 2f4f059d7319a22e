"""The companion checks: at their level under the null, and broken by planted faults."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, chi2, pearsonr

from dpfl.audit import checks
from dpfl.audit.checks import (
    BROKEN_BELOW,
    binomial_counts,
    count_residuals,
    noise_scale,
    repeated_noise,
)

REPEATS = 200


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def gaussians(*shape: int):
    return lambda draw: draw.standard_normal(shape)


def binomials(size: int, trials: int, rate: float):
    return lambda draw: draw.binomial(trials, rate, size)


NULLS = [
    pytest.param(repeated_noise, gaussians(2, 64), (), id="noise-2x64"),
    pytest.param(repeated_noise, gaussians(40, 10), (), id="noise-40x10"),
    pytest.param(repeated_noise, gaussians(600, 16), (), id="noise-600x16"),  # two chunks
    pytest.param(noise_scale, gaussians(50, 8), (), id="scale-50x8"),
    pytest.param(noise_scale, gaussians(1, 3), (), id="scale-1x3"),
    pytest.param(count_residuals, gaussians(5), (), id="residuals-5"),
    pytest.param(count_residuals, gaussians(500), (), id="residuals-500"),
    *(
        pytest.param(
            check, binomials(size, trials, rate), (trials, rate), id=f"{size}-{trials}-{rate}"
        )
        for check, size, trials, rate in [
            (binomial_counts, 1000, 500, 0.01),
            (binomial_counts, 200, 100, 0.02),
            (binomial_counts, 300, 20, 0.9),
            (binomial_counts, 20, 100, 0.05),
            (binomial_counts, 1000, 2400, 0.005),  # by moments
            (binomial_counts, 20, 3000, 0.01),
            (binomial_counts, 500, 10000, 0.02),  # by moments
        ]
    ),
]


@pytest.mark.parametrize(("check", "draw", "settings"), NULLS)
def test_the_level_is_what_it_says(check, draw, settings):
    """p < .01 in about .01 of repeats, p < .1 in about .1: checked two-sided at 1e-4 each."""
    found = rng(3)
    p = np.array([check(draw(found), *settings) for _ in range(REPEATS)])
    for level in (0.01, 0.1):
        low, high = binom.ppf([1e-4, 1 - 1e-4], REPEATS, level)
        assert low <= np.count_nonzero(p < level) <= high


@pytest.mark.parametrize(
    ("size", "trials", "rate"), [(1, 30, 0.02), (3, 1, 0.3), (50, 10, 0.01), (9, 2, 0.5)]
)
def test_few_counts_are_never_suspected_too_often(size, trials, rate):
    found = rng(4)
    p = [binomial_counts(found.binomial(trials, rate, size), trials, rate) for _ in range(REPEATS)]
    assert np.count_nonzero(np.array(p) < 0.01) <= binom.ppf(1 - 1e-4, REPEATS, 0.01)


def test_the_p_of_two_steps_is_that_of_pearson():
    rows = rng(5).standard_normal((2, 12))
    assert repeated_noise(rows) == pytest.approx(pearsonr(*rows).pvalue, rel=1e-9)
    three = rng(6).standard_normal((3, 12))
    pairs = [(0, 1), (0, 2), (1, 2)]
    least = min(pearsonr(three[a], three[b]).pvalue for a, b in pairs)
    assert repeated_noise(three) == pytest.approx(min(3 * least, 1), rel=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("first", "again"), [(0, 1), (3, 1999), (499, 500), (1998, 1999)])
def test_noise_used_twice_is_broken_wherever_the_steps_lie(first, again, sign):
    rows = rng(7).standard_normal((2000, 64)).astype(np.float32)
    assert repeated_noise(rows) > BROKEN_BELOW
    rows[again] = sign * rows[first]
    assert repeated_noise(rows) < BROKEN_BELOW


@pytest.mark.parametrize("value", [0.0, 0.1, np.nan, np.inf])
def test_a_step_without_noise_is_broken(value):
    rows = rng(8).standard_normal((30, 64))
    rows[4] = value
    assert repeated_noise(rows) == 0.0


def test_nothing_to_compare_is_nothing_to_check():
    assert repeated_noise(np.zeros((0, 64))) == 1.0
    assert repeated_noise(rng().standard_normal((1, 64))) == 1.0
    assert repeated_noise(rng().standard_normal((9, 2))) == 1.0
    assert noise_scale(np.zeros((0, 64))) == noise_scale(np.zeros((5, 0))) == 1.0
    assert count_residuals(np.zeros(0)) == 1.0
    assert binomial_counts(np.zeros(0, int), 10, 0.1) == 1.0


@pytest.mark.parametrize("scale", [0.0, 0.5, 0.9, 1.1, 2.0, np.nan])
def test_noise_of_another_scale_is_broken(scale):
    rows = rng(9).standard_normal((300, 64))
    assert noise_scale(rows) > BROKEN_BELOW > noise_scale(scale * rows)
    assert count_residuals(rows.ravel()) > BROKEN_BELOW > count_residuals(scale * rows.ravel())


def test_one_scalar_for_all_coordinates_is_broken():
    """Its mean square is right, and no two steps' noise is the same."""
    rows = np.repeat(rng(10).standard_normal((300, 1)), 64, axis=1)
    assert chi2.sf(np.sum(rows**2) / 64, 300) > 0.01
    assert noise_scale(rows) < BROKEN_BELOW


def test_shared_noise_beside_own_noise_is_broken():
    draw = rng(11)
    rows = (draw.standard_normal((300, 1)) + draw.standard_normal((300, 64))) / np.sqrt(2)
    assert noise_scale(rows) < BROKEN_BELOW


def test_residuals_that_repeat_or_lean_are_broken():
    assert count_residuals(np.ones(100)) == 0.0
    assert count_residuals(rng(12).standard_normal(500) + 0.5) < BROKEN_BELOW


def poisson_masks(draw: np.random.Generator, steps: int, records: int, rate: float) -> np.ndarray:
    return draw.random((steps, records)) < rate


def test_planted_samplers_are_broken():
    """As the sampler of a run: 200 steps of rate .02 over 1000 records, 50 steps to an epoch."""
    draw, steps, records, rate = rng(13), 200, 1000, 0.02
    poisson = poisson_masks(draw, steps, records, rate)
    orders = [draw.permutation(records).reshape(50, 20) for _ in range(4)]
    shuffled = np.zeros((steps, records), bool)
    np.put_along_axis(shuffled, np.concatenate(orders), True, axis=1)
    fixed = np.argsort(draw.random((steps, records)), axis=1) < records * rate
    reused = np.tile(poisson[:20], (10, 1))
    assert by_record(poisson, rate) > 0.001 and by_batch(poisson, rate) > 0.001
    assert by_record(shuffled, rate) < BROKEN_BELOW
    assert by_batch(fixed, rate) < BROKEN_BELOW < by_record(fixed, rate)
    assert by_record(reused, rate) < BROKEN_BELOW


def by_record(masks: np.ndarray, rate: float) -> float:
    return binomial_counts(masks.sum(axis=0), masks.shape[0], rate)


def by_batch(masks: np.ndarray, rate: float) -> float:
    return binomial_counts(masks.sum(axis=1), masks.shape[1], rate)


@pytest.mark.parametrize("told", [0.018, 0.022])
def test_another_rate_than_stated_is_broken(told):
    masks = poisson_masks(rng(14), 200, 1000, 0.02)
    assert by_record(masks, told) < BROKEN_BELOW > by_batch(masks, told)


def test_at_rate_one_all_must_be_in():
    assert binomial_counts(np.full(30, 40), 40, 1.0) == 1.0
    assert binomial_counts(np.full(40, 30), 30, 1.0) == 1.0
    assert binomial_counts(np.full(30, 39), 40, 1.0) == 0.0


def test_one_trial_is_judged_by_its_total():
    counts = np.array([1] * 9 + [0] * 91)
    total = binomtest(9, 100, 0.1)
    assert total.pvalue > 0.5 and binomial_counts(counts, 1, 0.1) == 1.0


def test_the_exact_dispersion_is_that_of_all_outcomes():
    trials, rate, counts = 4, 0.3, np.array([0, 3, 1])
    chance = binom.pmf(np.arange(5), trials, rate)
    below = above = 0.0
    seen = np.sum((counts - 1) ** 2)  # 1 is next to 4 * .3
    for outcome in np.ndindex(5, 5, 5):
        square, mass = np.sum((np.array(outcome) - 1) ** 2), np.prod(chance[list(outcome)])
        below, above = below + mass * (square <= seen), above + mass * (square >= seen)
    assert checks.dispersion(counts, trials, rate) == pytest.approx((below, above))


def test_the_moments_agree_with_the_exact_tails(monkeypatch):
    for size in (330, 355, 400):  # about the mean, and either tail
        counts = np.repeat([9, 1, 5], [size // 2, size // 2, 1000 - 2 * (size // 2)])
        exact = checks.dispersion(counts, 400, 0.0125)
        with monkeypatch.context() as patch:
            patch.setattr(checks, "EXACT_UP_TO", 0)
            assert checks.dispersion(counts, 400, 0.0125) == pytest.approx(exact, rel=0.05)
