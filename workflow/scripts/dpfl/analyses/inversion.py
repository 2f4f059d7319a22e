"""Pictures that a curious server reconstructs from one update: an attack, not a proof.

First row: what the client has. Beneath: what is found in the plain gradient, in the clipped one
and in the released one, at the noise of each ε; PSNR in dB and SSIM under every picture. A failed
attack proves nothing, a successful one is a lower bound on what leaks.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.plugins import analysis_settings as expect

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from dpfl.tables.columns_shown import Column

NEEDS_DATASET = True
TABLES = ("", "pictures")

_COUNTS = ("pictures", "seed")
_LISTS = ("batch_sizes", "epsilons")
_FEDERATION = ("clients", "batch_size", "rounds")
_SEARCH = ("restarts", "iterations", "rate", "total_variation")


def check(settings: dict[str, Any], dataset: str) -> None:
    """Raise a UserError with name, value and bound of the first setting that is wrong."""
    keys = ("models", *_COUNTS, *_LISTS, "delta", "clip_norm", "federation", "search")
    expect.mapping("settings", settings, keys)
    expect.mapping("settings.models", settings["models"], ("closed-form", "matching"))
    for name in _COUNTS:
        expect.whole(f"settings.{name}", settings[name])
    expect.numbers("settings.batch_sizes", settings["batch_sizes"], expect.whole)
    expect.numbers("settings.epsilons", settings["epsilons"], expect.epsilon)
    expect.number("settings.delta", settings["delta"], 1)
    expect.number("settings.clip_norm", settings["clip_norm"])
    _check_all("settings.federation", settings["federation"], _FEDERATION, _FEDERATION)
    _check_all("settings.search", settings["search"], _SEARCH, ("restarts", "iterations"))
    _check_fit(settings, dataset)


def _check_all(where: str, value: Any, keys: tuple[str, ...], whole: tuple[str, ...]) -> None:
    """Expect a mapping of numbers, some of them whole."""
    expect.mapping(where, value, keys)
    for key in keys:
        (expect.whole if key in whole else expect.number)(f"{where}.{key}", value[key])


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
    from dpfl.analyses import _inversion_rows

    check(settings, dataset)
    return _inversion_rows.tables(settings, dataset, path, _examples(settings, dataset))


def columns() -> "dict[str, dict[str, Column]]":
    """Return what each table shows to readers."""
    from dpfl.analyses._inversion_columns import COLUMNS

    return COLUMNS


def words(tables: "dict[str, pd.DataFrame]") -> str:
    """Return what the figure shows."""
    from dpfl.analyses import _inversion_figure

    return _inversion_figure.finding(tables[""])


def draw(tables: "dict[str, pd.DataFrame]") -> "Figure":
    """Draw originals over reconstructions, a panel per attack and batch size."""
    from dpfl.analyses import _inversion_figure

    return _inversion_figure.draw(tables[""], tables["drawn"])
