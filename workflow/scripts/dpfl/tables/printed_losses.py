"""The privacy losses that source 003 prints in its table 4 (Zhou and Qian 2022), as they stand.

doi 10.11999/JEIT210276. Light enough to be read before the first job.
"""

import csv
import math
from functools import cache
from pathlib import Path
from typing import NamedTuple

from dpfl import plugins

FILE = "resources/published_tables.csv"
MOST_DECIMALS = 9
DECIMALS = 2  # of the printed epsilons
METRIC = "privacy_loss_epsilon"
NAMES = {
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "dpsgd": "DP-SGD",
    "pdpsgd": "PDP-SGD",
    "p3sgd": "P3SGD",
    "fsdp": "FSDP",
}
"""How the source writes its data sets and methods; the last one it calls its own."""


class Loss(NamedTuple):
    """One printed cell; `header` is the epsilon in the head of its line."""

    dataset: str
    header: float
    method: str
    epochs: int
    epsilon: float


@cache
def losses() -> tuple[Loss, ...]:
    """Return the cells of the table in its order."""
    path = Path(plugins.ROOT.parents[1], FILE)
    with path.open(encoding="utf-8", newline="") as file:
        return tuple(_read(row) for row in csv.DictReader(file) if row["metric"] == METRIC)


def _read(row: dict[str, str]) -> Loss:
    header, value = float(row["header_epsilon"]), float(row["value"])
    return Loss(row["dataset"], header, row["method"], int(row["epochs"]), value)


def shortest(low: float, high: float, near: float) -> float:
    """Return the number with the fewest decimals between two ends, the nearest to a third."""
    for decimals in range(MOST_DECIMALS):
        unit = 10.0**-decimals
        first, last = math.ceil(low / unit), math.floor(high / unit)
        if first <= last:
            return round(min(max(round(near / unit), first), last) * unit, decimals)
    return near
