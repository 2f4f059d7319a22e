"""How like two pictures are: PSNR, SSIM, and which reconstruction is of which original.

Pictures are float arrays [N, C, H, W] with pixels in [0, 1].
"""

import numpy as np
from scipy.ndimage import gaussian_filter
from scipy.optimize import linear_sum_assignment

MOST = 100.0
"""PSNR in dB that equal pictures are given, and that nothing exceeds: rounding is all beyond."""
_SIGMA, _RADIUS = 1.5, 5  # a window of 11 x 11
_C1, _C2 = 0.01**2, 0.03**2


def matched(originals: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the reconstructions in the order of their originals: least squared error in all."""
    distances = ((originals[:, None] - found[None]) ** 2).mean(axis=(2, 3, 4))
    return found[linear_sum_assignment(distances)[1]]


def psnr(originals: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the peak signal-to-noise ratio of each pair [N], dB, for a peak of 1; MOST at most."""
    errors = ((originals - found) ** 2).mean(axis=(1, 2, 3))
    return -10 * np.log10(np.maximum(errors, 10 ** (-MOST / 10)))


def ssim(originals: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Return the structural similarity of each pair [N] (Wang et al. 2004), mean over channels.

    Gaussian windows of 11 x 11 and sigma 1.5, averaged over those that lie within the picture. In
    one smaller than that none does: all count, mirrored at the border.
    """
    values = _windows(*(np.asarray(side, dtype=float) for side in (originals, found)))
    inner = values[..., _RADIUS:-_RADIUS, _RADIUS:-_RADIUS]
    return (inner if inner.size else values).mean(axis=(1, 2, 3))


def _windows(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the similarity of the windows around all pixels [N, C, H, W]."""
    mean_one, mean_other = _blurred(one), _blurred(other)
    spread = _blurred(one**2) - mean_one**2 + _blurred(other**2) - mean_other**2
    shared = _blurred(one * other) - mean_one * mean_other
    luminance = (2 * mean_one * mean_other + _C1) / (mean_one**2 + mean_other**2 + _C1)
    return luminance * (2 * shared + _C2) / (spread + _C2)


def _blurred(pictures: np.ndarray) -> np.ndarray:
    return gaussian_filter(pictures, _SIGMA, radius=_RADIUS, axes=(2, 3))
