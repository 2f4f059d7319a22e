"""What k rounds cost together: composition theorems and what accountants prove.

On the left is ε against the number of rounds, on the right the δ that each bound speaks of. Then
follows ε of the other mechanisms. Smaller is better, and every line is an upper bound for the same
releases.
"""

from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpfl.base.errors import UserError
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("", "rule", "crossover")

GIVEN = {"epsilon": "number > 0", "delta": expect.SHARE}
SAMPLED = {
    "sample_rate": "number in (0, 1]",
    "noise_multiplier": "number > 0",
    "delta": expect.SHARE,
}
"""A round by its epsilon and delta, or by what is sampled and released."""
RULE = {**GIVEN, "rounds": expect.COUNTS}


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    parts = {"mechanisms": _check_mechanisms, "rule": partial(expect.fields, checks=RULE)}
    expect.fields("settings", settings, {"rounds": expect.COUNTS, "slack": expect.SHARE, **parts})


def _check_mechanisms(where: str, value: Any) -> None:
    for index, own in enumerate(expect.items(where, value)):
        given = not isinstance(own, dict) or "epsilon" in own
        expect.fields(f"{where}.{index}", own, GIVEN if given else SAMPLED)
        if own in value[:index]:
            raise UserError(f"{where}.{index} is {own}, which is there already")


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


def shown() -> ModuleType:
    """Return what readers see of the tables: columns, words and a figure."""
    from dpfl.analyses import _composition_shown

    return _composition_shown
