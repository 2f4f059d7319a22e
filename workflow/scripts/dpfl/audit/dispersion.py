"""Whether counts scatter as binomial ones do: too little or too much, however small or few."""

import numpy as np
from scipy import fft
from scipy.stats import binom, pearson3

NEGLIGIBLE = 1e-25  # the chance of a count that is left out
EXACT_UP_TO = 2**17  # possible sums, beyond which three moments describe them


def tails(counts: np.ndarray, trials: int, rate: float) -> tuple[float, float]:
    """Return the chances of a sum S at most, and at least, that of counts [m], Bin(trials, rate).

    S is the sum of (count - c)^2 about the whole number c nearest to the expected count. Its
    distribution is the exact convolution, by Fourier (absolute error below 1e-12), where S has few
    values; elsewhere the Pearson type III one with its first three moments, which is chi-square
    where counts are Gaussian.
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
