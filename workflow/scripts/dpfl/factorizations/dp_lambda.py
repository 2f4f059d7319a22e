"""z_t less lam times z_(t-1): DP-lambda-CGD (Kalinin et al. 2026, arXiv 2601.22334)."""

import numpy as np

from dpfl.base.errors import UserError
from dpfl.factorizations import Run, of_toeplitz
from dpfl.factorizations.parts.streams import Toeplitz

SETTINGS = {"lam": "number in [0, 1)"}


def sensitivity(run: Run, *, lam: float) -> float:
    """Return that of C with coefficients 1, lam, lam^2, ..., where z_t - lam z_(t-1) is added.

    UserError outside 0 <= lam < 1.
    """
    if not 0 <= lam < 1:
        raise UserError(f"lam is {lam}, must be in [0, 1)")
    return of_toeplitz(lam ** np.arange(run.steps), run)


def stream(*, lam: float) -> Toeplitz:
    """Return the noise of steps."""
    return Toeplitz([1.0, -lam])
