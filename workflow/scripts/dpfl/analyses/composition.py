"""What k rounds cost together: the formulas of source 002 beside what accountants prove.

On the left ε against the number of rounds, on the right the δ that each bound speaks of; then ε of
the other mechanisms. Smaller is better, and every line is an upper bound for the same releases.
"""

from typing import TYPE_CHECKING, Any

from dpfl.analyses import _settings
from dpfl.errors import UserError

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dpfl.tables.rendering import Column

TABLES = ("", "rule", "crossover")

GIVEN = ("epsilon", "delta")
SAMPLED = ("sample_rate", "noise_multiplier", "delta")


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    _settings.mapping("settings", settings, ("rounds", "slack", "mechanisms", "rule"))
    _settings.numbers("settings.rounds", settings["rounds"], _settings.whole)
    _settings.number("settings.slack", settings["slack"], 1)
    for index, own in enumerate(_settings.items("settings.mechanisms", settings["mechanisms"])):
        _check_mechanism(f"settings.mechanisms.{index}", own)
        if own in settings["mechanisms"][:index]:
            raise UserError(f"settings.mechanisms.{index} is {own}, which is there already")
    rule = settings["rule"]
    _settings.mapping("settings.rule", rule, ("epsilon", "delta", "rounds"))
    _settings.number("settings.rule.epsilon", rule["epsilon"])
    _settings.number("settings.rule.delta", rule["delta"], 1)
    _settings.numbers("settings.rule.rounds", rule["rounds"], _settings.whole)


def _check_mechanism(where: str, own: Any) -> None:
    """Expect a round's epsilon and delta, or its sampling rate, noise multiplier and delta."""
    given = not isinstance(own, dict) or "epsilon" in own
    _settings.mapping(where, own, GIVEN if given else SAMPLED)
    if given:
        _settings.number(f"{where}.epsilon", own["epsilon"])
    else:
        _settings.number(f"{where}.sample_rate", own["sample_rate"], 1, closed=True)
        _settings.number(f"{where}.noise_multiplier", own["noise_multiplier"])
    _settings.number(f"{where}.delta", own["delta"], 1)


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


def draw(tables: "dict[str, pd.DataFrame]") -> "Figure":
    """Draw ε and δ of the first mechanism against k, and ε of the others."""
    from dpfl.analyses import _composition_figure

    return _composition_figure.draw(tables[""], tables["crossover"])
