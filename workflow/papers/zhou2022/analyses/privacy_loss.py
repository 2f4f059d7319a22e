"""Table 4 of the paper, and what accountants find for the same runs, in ε at one δ.

The header's ε of a step gives the noise, σ = sqrt(2 ln(1.25/δ)) / header. Batch size, δ and P3SGD's
candidate scales are assumptions. A diamond is printed, the others are computed: with one noisy sum
a batch, or with all that is released. Classic RDP is shown too, and PLD, tight and rounded up.
"""

from collections.abc import Collection
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

from papers.zhou2022.analyses import _printed

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("", "needed", "fit")
READS = ("workflow/papers/zhou2022/published.csv",)


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    printed = _printed.losses()
    datasets, methods = ({getattr(x, n): None for x in printed} for n in ("dataset", "method"))
    ends = {"noise_multiplier": "number > 0", "sample_rate": "number in (0, 1]"}
    search = {name: partial(_ends, each=each) for name, each in ends.items()}
    own = {
        "batch_size": expect.COUNT,
        "examples": partial(_some, known=datasets, each=expect.COUNT),
        **dict.fromkeys(("delta", "header_delta", "other_header_delta"), expect.SHARE),
        "releases": partial(_some, known=methods, each="list of number > 0"),
        "search": partial(expect.fields, checks=search),
    }
    expect.fields("settings", settings, own)
    for name, count in settings["examples"].items():
        if count < settings["batch_size"]:
            bound = f"at least the batch size, {settings['batch_size']}"
            raise UserError(f"settings.examples.{name} is {count}, must be {bound}")


def _some(where: str, value: Any, known: Collection[str], each: expect.Check) -> None:
    """Expect a mapping of some of these names, at least one, whose values pass a check."""
    if not isinstance(value, dict) or not value:
        raise UserError(f"{where} is {value!r}, must be a mapping of some of {', '.join(known)}")
    for name, own in value.items():
        if name not in known:
            raise UserError(f"{where} has the unknown key {name!r}; {nearest(name, known)}")
        expect.passes(f"{where}.{name}", own, each)


def _ends(where: str, value: Any, each: str) -> None:
    expect.passes(where, value, f"rising list of {each}")
    if len(value) != 2:
        raise UserError(f"{where} is {value!r}, must be its two ends")


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return every printed cell beside our price, what would be needed for it, and common fits."""
    from papers.zhou2022.analyses._assumptions import Assumptions, pairs
    from papers.zhou2022.analyses._rows import fits, needed, prices

    check(settings)
    assumed = Assumptions.read(settings)
    told = pairs(_printed.losses(), settings["examples"], settings["releases"])
    return {"": prices(assumed, told), "needed": needed(assumed, told), "fit": fits(assumed, told)}


def beside_print(tables: "dict[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return what stands beside each printed loss: its line, our price and the verdict."""
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


def shown() -> ModuleType:
    """Return what readers see of the tables: columns and a figure."""
    from papers.zhou2022.analyses import _shown

    return _shown
