"""What k rounds cost together: composition theorems beside what accountants prove.

On the left ε against the number of rounds, on the right the δ that each bound speaks of; then ε of
the other mechanisms. Smaller is better, and every line is an upper bound for the same releases.
"""

from typing import TYPE_CHECKING, Any

from dpfl.base.errors import UserError
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dpfl.tables.columns_shown import Column

TABLES = ("", "rule", "crossover")

GIVEN = ("epsilon", "delta")
SAMPLED = ("sample_rate", "noise_multiplier", "delta")


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    expect.mapping("settings", settings, ("rounds", "slack", "mechanisms", "rule"))
    expect.numbers("settings.rounds", settings["rounds"], expect.whole)
    expect.number("settings.slack", settings["slack"], 1)
    for index, own in enumerate(expect.items("settings.mechanisms", settings["mechanisms"])):
        _check_mechanism(f"settings.mechanisms.{index}", own)
        if own in settings["mechanisms"][:index]:
            raise UserError(f"settings.mechanisms.{index} is {own}, which is there already")
    rule = settings["rule"]
    expect.mapping("settings.rule", rule, ("epsilon", "delta", "rounds"))
    expect.number("settings.rule.epsilon", rule["epsilon"])
    expect.number("settings.rule.delta", rule["delta"], 1)
    expect.numbers("settings.rule.rounds", rule["rounds"], expect.whole)


def _check_mechanism(where: str, own: Any) -> None:
    """Expect a round's epsilon and delta, or its sampling rate, noise multiplier and delta."""
    given = not isinstance(own, dict) or "epsilon" in own
    expect.mapping(where, own, GIVEN if given else SAMPLED)
    if given:
        expect.number(f"{where}.epsilon", own["epsilon"])
    else:
        expect.number(f"{where}.sample_rate", own["sample_rate"], 1, closed=True)
        expect.number(f"{where}.noise_multiplier", own["noise_multiplier"])
    expect.number(f"{where}.delta", own["delta"], 1)


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return the price of every mechanism and k, the uniform rule, and where formulas cross."""
    from dpfl.analyses import _composition_rows as rows

    check(settings)
    mechanisms = [rows.read(own) for own in settings["mechanisms"]]
    return {
        "": rows.prices(mechanisms, settings["rounds"], settings["slack"]),
        "rule": rows.rule(**settings["rule"], slack=settings["slack"]),
        "crossover": rows.crossovers(mechanisms, settings["slack"]),
    }


def columns() -> "dict[str, dict[str, Column]]":
    """Return what each table shows to readers."""
    from dpfl.analyses._composition_columns import COLUMNS

    return COLUMNS


def words(tables: "dict[str, pd.DataFrame]") -> str:
    """Return what the figure shows."""
    from dpfl.analyses import _composition_figure

    return _composition_figure.finding(tables[""], tables["crossover"])


def draw(tables: "dict[str, pd.DataFrame]") -> "Figure":
    """Draw ε and δ of the first mechanism against k, and ε of the others."""
    from dpfl.analyses import _composition_figure

    return _composition_figure.draw(tables[""], tables["crossover"])
