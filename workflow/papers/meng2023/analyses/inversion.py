"""Pictures that a curious server reconstructs from one update: an attack, not a proof.

First row: what the client has. Beneath: what is found in the plain gradient, in the clipped one and
in the released one, at each ε. PSNR in dB and SSIM stand under every picture. A failed attack
proves nothing, a successful one is a lower bound on what leaks.
"""

from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd

NEEDS_DATASET = True
TABLES = ("", "pictures")

_FEDERATION = dict.fromkeys(("clients", "batch_size", "rounds"), expect.COUNT)
_SEARCH = dict.fromkeys(("restarts", "iterations"), expect.COUNT)
_SEARCH |= dict.fromkeys(("rate", "total_variation"), "number > 0")
_MODELS: dict[str, expect.Check] = dict.fromkeys(("closed-form", "matching"))
_SETTINGS = {
    "models": partial(expect.fields, checks=_MODELS),
    "pictures": expect.COUNT,
    "seed": expect.COUNT,
    "batch_sizes": expect.COUNTS,
    "epsilons": f"rising list of {expect.EPSILON}",
    "delta": expect.SHARE,
    "clip_norm": "number > 0",
    "federation": partial(expect.fields, checks=_FEDERATION),
    "search": partial(expect.fields, checks=_SEARCH),
}


def check(settings: dict[str, Any], dataset: str) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    expect.fields("settings", settings, _SETTINGS)
    _check_fit(settings, dataset)


def _check_fit(settings: dict[str, Any], dataset: str) -> None:
    """Expect a data set of pictures, enough of them, and whole batches."""
    shape = plugins.constant("data", dataset, "SHAPE")
    if len(shape) != 3 or plugins.constant("data", dataset, "SCALE") is None:
        raise UserError(f"{dataset} holds no pictures; inversion needs some")
    examples, federation = _examples(settings, dataset), settings["federation"]
    for name, wanted in (
        ("pictures", settings["pictures"]),
        ("federation.batch_size", federation["batch_size"]),
    ):
        if wanted > examples:
            bound = f"at most the {examples} examples of a client"
            raise UserError(f"settings.{name} is {wanted}, must be {bound}")
    for index, batch in enumerate(settings["batch_sizes"]):
        if settings["pictures"] % batch:
            bound = f"a divisor of the {settings['pictures']} pictures"
            raise UserError(f"settings.batch_sizes.{index} is {batch}, must be {bound}")


def _examples(settings: dict[str, Any], dataset: str) -> int:
    """Return how many examples a client has."""
    return plugins.constant("data", dataset, "TRAIN_EXAMPLES") // settings["federation"]["clients"]


def tables(settings: dict[str, Any], dataset: str, path: Path) -> "dict[str, pd.DataFrame]":
    """Return likeness by attack, batch size and release, that of each picture, and the pictures.

    `path` is the prepared data set. The pictures, [C, H, W] in a column, are for the figure alone.
    """
    from papers.meng2023.analyses import _rows

    check(settings, dataset)
    return _rows.tables(settings, dataset, path, _examples(settings, dataset))


def shown() -> ModuleType:
    """Return what readers see of the tables: columns, words and a figure."""
    from papers.meng2023.analyses import _shown

    return _shown
