"""Table 4 of the paper beside what accountants find for the same runs, in ε at one δ.

The header's ε of a step gives the noise, σ = sqrt(2 ln(1.25/δ)) / header; batch size, δ and P3SGD's
candidate scales are assumptions. A diamond is printed, the others are computed: with one noisy
sum a batch, or with all that the method releases; classic RDP, and PLD, tight and rounded up.
"""

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from papers.zhou2022.analyses import _printed

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dpfl.tables.columns_shown import Column

TABLES = ("", "needed", "fit")
READS = ("workflow/papers/zhou2022/published.csv",)

KEYS = ("batch_size", "examples", "delta", "header_delta", "other_header_delta", "releases")


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    expect.mapping("settings", settings, (*KEYS, "search"))
    printed = _printed.losses()
    expect.whole("settings.batch_size", settings["batch_size"])
    examples = settings["examples"]
    _some("settings.examples", examples, dict.fromkeys(cell.dataset for cell in printed))
    for name, count in examples.items():
        expect.whole(f"settings.examples.{name}", count)
        if count < settings["batch_size"]:
            bound = f"at least the batch size, {settings['batch_size']}"
            raise UserError(f"settings.examples.{name} is {count}, must be {bound}")
    for name in ("delta", "header_delta", "other_header_delta"):
        expect.number(f"settings.{name}", settings[name], 1)
    releases = settings["releases"]
    _some("settings.releases", releases, dict.fromkeys(cell.method for cell in printed))
    for name, scales in releases.items():
        for index, scale in enumerate(expect.items(f"settings.releases.{name}", scales)):
            expect.number(f"settings.releases.{name}.{index}", scale)
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
    expect.mapping("settings.search", search, ("noise_multiplier", "sample_rate"))
    limits = {"noise_multiplier": {}, "sample_rate": {"high": 1, "closed": True}}
    for name, limit in limits.items():
        where = f"settings.search.{name}"
        expect.numbers(
            where,
            search[name],
            lambda at, end, limit=limit: expect.number(at, end, **limit),
        )
        if len(search[name]) != 2:
            raise UserError(f"{where} is {search[name]!r}, must be its two ends")


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return every printed cell beside our price, what would be needed for it, and common fits."""
    from papers.zhou2022.analyses._assumptions import Assumptions, pairs
    from papers.zhou2022.analyses._needed import fits, needed
    from papers.zhou2022.analyses._rows import prices

    check(settings)
    assumed = Assumptions.of(settings)
    told = pairs(_printed.losses(), settings["examples"], settings["releases"])
    return {"": prices(assumed, told), "needed": needed(assumed, told), "fit": fits(assumed, told)}


def beside_print(tables: "dict[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return what stands beside each printed loss: its line, our price and the verdict."""
    from papers.zhou2022.analyses import _printed

    lines = {tuple(loss[:4]): line for line, loss in _printed.by_line().items()}
    prices = tables[""]
    places = zip(
        prices["dataset"], prices["header_epsilon"], prices["method"], prices["epochs"], strict=True
    )
    return prices.assign(
        line=[lines[place] for place in places],
        printed=prices["published"],
        ours=prices["classic_rdp"],
    )[["line", "reading", "printed", "ours", "verdict"]]


def columns() -> "dict[str, dict[str, Column]]":
    """Return what each table shows to readers."""
    from papers.zhou2022.analyses._columns import COLUMNS

    return COLUMNS


def draw(tables: "dict[str, pd.DataFrame]") -> "Figure":
    """Draw printed against computed losses: a row of panels per data set, one per header."""
    from papers.zhou2022.analyses import _figure

    return _figure.draw(tables[""])
