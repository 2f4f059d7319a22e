"""Whether noise and samples are what the accounting takes them for: independent and as stated.

Every check returns a p-value, small where something is broken. Numbers that are not finite have p
0. Where there is nothing to check, p is 1. These see what the bounds on epsilon do not: noise or
batches that repeat, fixed shuffles, batches of fixed size.
"""

from collections.abc import Sequence

import numpy as np
from scipy import fft
from scipy.stats import beta, binom, chi2, pearson3

BROKEN_BELOW = 1e-6  # the p of any one check below which a run's privacy is marked broken

CHUNK = 500  # steps whose correlations with all others are in memory at once
NEGLIGIBLE = 1e-25  # the chance of a count that is left out
EXACT_UP_TO = 2**17  # possible sums, beyond which three moments describe them


def repeated_noise(rows: np.ndarray) -> float:
    """Return p of the largest |correlation| of two steps' noise, rows [T, s], over all pairs.

    Noise used again has |correlation| 1; a constant row is a step without noise (p 0). Each
    pair has the exact null of Pearson's correlation of Gaussians, and Bonferroni pays for the
    pairs. With s < 3 there is nothing to check; s = 64 tells a repeat among thousands of steps.
    """
    steps, width = rows.shape
    if width < 3 or not steps:
        return 1.0
    rows = np.asarray(rows, dtype=float)
    if not (np.isfinite(rows).all() and np.ptp(rows, axis=1).all()):
        return 0.0
    rows = rows - rows.mean(axis=1, keepdims=True)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    largest = max(_largest_product(rows[first:]) for first in range(0, steps, CHUNK))
    one_pair = beta.sf(min(largest**2, 1.0), 0.5, (width - 2) / 2)
    pairs = steps * (steps - 1) / 2
    return float(min(pairs * one_pair, 1.0)) if pairs else 1.0


def noise_scale(rows: np.ndarray) -> float:
    """Return p of rows [T, s] being independent standard Gaussians, by their scale.

    Two chi-square tests, both two-sided: of the T row means, and of the deviations from them. Noise
    of another scale fails the second, one draw shared by the coordinates of a row fails both.
    """
    steps, width = rows.shape
    if not np.isfinite(rows).all():
        return 0.0
    if not rows.size:
        return 1.0
    rows = np.asarray(rows, dtype=float)
    means = rows.mean(axis=1, keepdims=True)
    between = _chi_square(width * np.sum(means**2), steps)
    return smallest([between, _chi_square(np.sum((rows - means) ** 2), steps * (width - 1))])


def count_residuals(residuals: np.ndarray) -> float:
    """Return p of residuals [T], in units of their stated deviation, being standard Gaussians.

    Their mean and their variance about it are tested as in `noise_scale`. The same residual at
    every step fails as surely as one of another scale.
    """
    return noise_scale(np.reshape(residuals, (1, -1)))


def binomial_counts(counts: np.ndarray, trials: int, rate: float) -> float:
    """Return p of counts [m] being independent Bin(trials, rate), by their total and dispersion.

    Fixed shuffles disperse the counts of a record too little, batches that repeat too much.
    """
    counts = np.asarray(counts)
    total = binom(trials * counts.size, rate)
    by_total = _two_sided(total.cdf(counts.sum()), total.sf(counts.sum() - 1))
    return smallest([by_total, _two_sided(*dispersion(counts, trials, rate))])


def dispersion(counts: np.ndarray, trials: int, rate: float) -> tuple[float, float]:
    """Return the chances of a sum S at most, and at least, that of counts [m], Bin(trials, rate).

    S is the sum of (count - c)^2 about the whole number c nearest to the expected count. Where S
    has few values, its distribution is the exact convolution, by Fourier (absolute error below
    1e-12). Elsewhere it is the Pearson type III one with the same first three moments. That is
    chi-square where counts are Gaussian.
    """
    possible = np.arange(trials + 1)
    chances = binom.pmf(possible, trials, rate)
    possible, chances = (x[chances > NEGLIGIBLE] for x in (possible, chances))
    centre = round(trials * rate)
    squares, seen = (possible - centre) ** 2, int(np.sum((counts - centre) ** 2))
    if len(counts) * squares.max() < EXACT_UP_TO:
        return _exact(squares, chances, len(counts), seen)
    return _by_moments(squares, chances, len(counts), seen)


def _exact(squares: np.ndarray, chances: np.ndarray, size: int, seen: int) -> tuple[float, float]:
    values = size * int(squares.max()) + 1
    one = np.bincount(squares, weights=chances, minlength=values)
    length = fft.next_fast_len(values, real=True)
    total = np.maximum(fft.irfft(fft.rfft(one, length) ** size, length), 0.0)
    return float(total[: seen + 1].sum()), float(total[seen:].sum())


def _by_moments(
    squares: np.ndarray, chances: np.ndarray, size: int, seen: int
) -> tuple[float, float]:
    mean = chances @ squares
    variance = chances @ (squares - mean) ** 2
    skew = chances @ (squares - mean) ** 3 / variance**1.5
    null = pearson3(skew / np.sqrt(size), size * mean, np.sqrt(size * variance))
    return float(null.cdf(seen)), float(null.sf(seen))


def _largest_product(rows: np.ndarray) -> float:
    """Return the largest |product| of one of the first rows with one that comes after it."""
    return float(np.triu(np.abs(rows[:CHUNK] @ rows.T), 1).max())


def _chi_square(value: float, freedom: int) -> float:
    return _two_sided(chi2.cdf(value, freedom), chi2.sf(value, freedom)) if freedom else 1.0


def _two_sided(below: float, above: float) -> float:
    return float(min(2 * min(below, above), 1.0))


def smallest(tests: Sequence[float]) -> float:
    """Return the p of the smallest of several tests, by Bonferroni."""
    return min(len(tests) * min(tests), 1.0)
