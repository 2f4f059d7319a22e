"""ε of T Poisson-sampled Gaussian releases: a panel per sampling rate, noise against T.

Prices are PLD's on the fine grid, those of whole batches the Gaussian's closed form. Where RDP
finds more than 50, its own price is shown, an upper bound.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("",)

SETTINGS = {
    "noise_multipliers": "rising list of number > 0",
    "rounds": expect.COUNTS,
    "sample_rates": "rising list of number in (0, 1]",
    "delta": expect.SHARE,
}


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    expect.fields("settings", settings, SETTINGS)


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return epsilon over the grid, one row per sampling rate, noise multiplier and T."""
    from dpfl.analyses import _surface

    check(settings)
    return {"": _surface.prices(**settings)}


def shown() -> ModuleType:
    """Return what readers see of the table: columns, words and a map per sampling rate."""
    from dpfl.analyses import _surface

    return _surface
