"""The first coefficients of the workload's square root: BSR (Kalinin and Lampert 2024)."""

from dpfl.factorizations import Run, of_toeplitz, root_of_workload
from dpfl.factorizations.parts.streams import Toeplitz

BANDS = "bands"
SETTINGS = {"bands": "whole >= 1"}


def sensitivity(run: Run, *, bands: int, momentum: float = 0.0, decay: float = 1.0) -> float:
    """Return that of so many bands of the root, arXiv 2405.13763; UserError out of bounds."""
    return of_toeplitz(root_of_workload(bands, momentum, decay, -0.5), run)


def stream(*, bands: int, momentum: float = 0.0, decay: float = 1.0) -> Toeplitz:
    """Return the noise of steps, C y = z."""
    return Toeplitz([1.0], root_of_workload(bands, momentum, decay, -0.5)[1:])
