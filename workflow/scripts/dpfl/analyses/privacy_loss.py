"""Table 4 of source 003 beside what accountants find for the same runs, in ε at one δ.

The header's ε of a step gives the noise, σ = sqrt(2 ln(1.25/δ)) / header; batch size, δ and P3SGD's
candidate scales are assumptions. A diamond is printed, the others are computed: with one noisy
sum a batch, or with all that the method releases; classic RDP, and PLD for the truth.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from dpfl.analyses import _settings
from dpfl.errors import UserError
from dpfl.hints import nearest
from dpfl.tables import printed_losses

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dpfl.tables.rendering import Column

TABLES = ("", "needed", "fit")
READS = ("workflow/resources/published_tables.csv",)

KEYS = ("batch_size", "examples", "delta", "header_delta", "other_header_delta", "releases")


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    _settings.mapping("settings", settings, (*KEYS, "search"))
    printed = printed_losses.losses()
    _settings.whole("settings.batch_size", settings["batch_size"])
    examples = settings["examples"]
    _some("settings.examples", examples, dict.fromkeys(cell.dataset for cell in printed))
    for name, count in examples.items():
        _settings.whole(f"settings.examples.{name}", count)
        if count < settings["batch_size"]:
            bound = f"at least the batch size, {settings['batch_size']}"
            raise UserError(f"settings.examples.{name} is {count}, must be {bound}")
    for name in ("delta", "header_delta", "other_header_delta"):
        _settings.number(f"settings.{name}", settings[name], 1)
    releases = settings["releases"]
    _some("settings.releases", releases, dict.fromkeys(cell.method for cell in printed))
    for name, scales in releases.items():
        for index, scale in enumerate(_settings.items(f"settings.releases.{name}", scales)):
            _settings.number(f"settings.releases.{name}.{index}", scale)
    _check_search(settings["search"])


def _some(where: str, value: Any, known: Collection[str]) -> None:
    """Expect a mapping of some of these names, at least one."""
    if not isinstance(value, dict) or not value:
        raise UserError(f"{where} is {value!r}, must be a mapping of some of {', '.join(known)}")
    for name in value:
        if name not in known:
            raise UserError(f"{where} has the unknown key {name!r}; {nearest(name, known)}")


def _check_search(search: Any) -> None:
    """Expect two ends for noise multiplier and sampling rate each."""
    _settings.mapping("settings.search", search, ("noise_multiplier", "sample_rate"))
    limits = {"noise_multiplier": {}, "sample_rate": {"high": 1, "closed": True}}
    for name, limit in limits.items():
        where = f"settings.search.{name}"
        _settings.numbers(
            where, search[name], lambda at, end, limit=limit: _settings.number(at, end, **limit)
        )
        if len(search[name]) != 2:
            raise UserError(f"{where} is {search[name]!r}, must be its two ends")


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return every printed cell beside our price, what would be needed for it, and common fits."""
    from dpfl.analyses._privacy_loss_assumptions import Assumptions, pairs
    from dpfl.analyses._privacy_loss_needed import fits, needed
    from dpfl.analyses._privacy_loss_rows import prices

    check(settings)
    assumed = Assumptions.of(settings)
    told = pairs(printed_losses.losses(), settings["examples"], settings["releases"])
    return {"": prices(assumed, told), "needed": needed(assumed, told), "fit": fits(assumed, told)}


def columns() -> "dict[str, dict[str, Column]]":
    """Return what each table shows to readers."""
    from dpfl.analyses._privacy_loss_columns import COLUMNS

    return COLUMNS


def draw(tables: "dict[str, pd.DataFrame]") -> "Figure":
    """Draw printed against computed losses: a row of panels per data set, one per header."""
    from dpfl.analyses import _privacy_loss_figure

    return _privacy_loss_figure.draw(tables[""])
