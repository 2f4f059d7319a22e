"""The privacy losses that the paper prints in its table 4, as they stand.

Light enough to be read before the first job.
"""

import math
from typing import NamedTuple

from dpfl.papers import published

PAPER, TABLE = "zhou2022", "table 4"
MOST_DECIMALS = 9
DECIMALS = 2  # of the printed epsilons
NAMES = {
    "mnist": "MNIST",
    "cifar10": "CIFAR-10",
    "dpsgd": "DP-SGD",
    "pdpsgd": "PDP-SGD",
    "p3sgd": "P3SGD",
    "fsdp": "FSDP",
}
"""How the paper writes its data sets and methods; the last one it calls its own."""


class Loss(NamedTuple):
    """One printed cell; `header` is the epsilon in the head of its line."""

    dataset: str
    header: float
    method: str
    epochs: int
    epsilon: float


def losses() -> tuple[Loss, ...]:
    """Return the cells of the table in its order."""
    return tuple(by_line().values())


def by_line() -> dict[int, Loss]:
    """Return the same by their lines in the file of printed numbers."""
    return {
        row.line: Loss(
            row.coordinate("dataset"),
            float(row.coordinate("header_epsilon")),
            row.row,
            int(row.coordinate("epochs")),
            row.value,
        )
        for row in published.table(PAPER, TABLE)
    }


def shortest(low: float, high: float, near: float) -> float:
    """Return the number with the fewest decimals between two ends, the nearest to a third."""
    for decimals in range(MOST_DECIMALS):
        unit = 10.0**-decimals
        first, last = math.ceil(low / unit), math.floor(high / unit)
        if first <= last:
            return round(min(max(round(near / unit), first), last) * unit, decimals)
    return near
