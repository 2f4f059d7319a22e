"""What the authors' budget is by accountants: the steps and statistics of their commands, priced.

Circles: by their accounting, classic RDP for Poisson batches. Squares: the same by PLD, tight for
Poisson batches and rounded up. Diamonds: what is proven for the shuffled batches that their code
draws. There an epoch is one Gaussian without sampling, each example replaced by none. All as if
their statistics were clipped to a constant.
"""

from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpfl.base.errors import UserError
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd

TABLES = ("",)

_ROW = {
    **dict.fromkeys(("dataset", "model", "normalised")),
    **dict.fromkeys(("examples", "batch_size"), expect.COUNT),
    "noise_multiplier": "number > 0",
}


def check(settings: dict[str, Any]) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    own = {"epsilon": expect.EPSILON, "delta": expect.SHARE, "statistics": "number > 0"}
    expect.fields("settings", settings, {**own, "rows": _check_rows})


def _check_rows(where: str, value: Any) -> None:
    for index, own in enumerate(expect.items(where, value)):
        expect.fields(f"{where}.{index}", own, _ROW)
        if own["batch_size"] > own["examples"]:
            bound = f"<= {own['examples']}"
            raise UserError(f"{where}.{index}.batch_size is {own['batch_size']}, must be {bound}")


def tables(settings: dict[str, Any]) -> "dict[str, pd.DataFrame]":
    """Return a row for every command: its epochs, which are not printed, and three prices."""
    from papers.tramer2021.analyses import _rows

    check(settings)
    return {"": _rows.rows(settings)}


def shown() -> ModuleType:
    """Return what readers see of the table: columns and a figure."""
    from papers.tramer2021.analyses import _rows

    return _rows
