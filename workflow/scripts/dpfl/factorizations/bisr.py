"""The first coefficients of the root's inverse: BISR (Kalinin et al. 2026, arXiv 2505.12128)."""

import numpy as np
from scipy.signal import lfilter

from dpfl.factorizations import Run, of_toeplitz, root_of_workload
from dpfl.factorizations.parts.streams import Toeplitz

SETTINGS = {"bands": "whole >= 1"}


def sensitivity(run: Run, *, bands: int, momentum: float = 0.0, decay: float = 1.0) -> float:
    """Return that of C, whose inverse has so many bands; UserError out of bounds."""
    inverse = root_of_workload(bands, momentum, decay, 0.5)
    impulse = np.zeros(run.steps)
    impulse[0] = 1.0
    return of_toeplitz(lfilter([1.0], inverse, impulse), run)


def stream(*, bands: int, momentum: float = 0.0, decay: float = 1.0) -> Toeplitz:
    """Return the noise of steps."""
    return Toeplitz(root_of_workload(bands, momentum, decay, 0.5))
