"""ε of T Poisson-sampled Gaussian releases: a panel per sampling rate, noise against T.

Dots are computed, colours and the lines of equal ε lie between them. Prices are PLD's on the fine
grid, those of whole batches the Gaussian's closed form; where RDP finds more than 50, its own, an
upper bound, stands.
"""

from typing import TYPE_CHECKING, Any

from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dpfl.tables.columns_shown import Column

TABLES = ("",)


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    keys = ("noise_multipliers", "rounds", "sample_rates", "delta")
    expect.mapping("settings", settings, keys)
    expect.numbers("settings.noise_multipliers", settings["noise_multipliers"], expect.number)
    expect.numbers("settings.rounds", settings["rounds"], expect.whole)
    expect.numbers(
        "settings.sample_rates",
        settings["sample_rates"],
        lambda where, value: expect.number(where, value, 1, closed=True),
    )
    expect.number("settings.delta", settings["delta"], 1)


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return epsilon over the grid, one row per sampling rate, noise multiplier and T."""
    from dpfl.analyses import _surface

    check(settings)
    return {"": _surface.prices(**settings)}


def columns() -> "dict[str, dict[str, Column]]":
    """Return what the table shows to readers."""
    from dpfl.tables.columns_shown import plain, rounded

    return {
        "": {
            "q": rounded("sample_rate"),
            "z": rounded("noise_multiplier"),
            "T": plain("rounds"),
            "ε": rounded("epsilon", "{:.4g}"),
            "accountant": plain("accountant"),
        }
    }


def words(tables: "dict[str, pd.DataFrame]") -> str:
    """Return what the figure shows."""
    from dpfl.analyses import _surface_figure

    return _surface_figure.finding(tables[""])


def draw(tables: "dict[str, pd.DataFrame]") -> "Figure":
    """Draw one map per sampling rate."""
    from dpfl.analyses import _surface_figure

    return _surface_figure.draw(tables[""])
