"""The tables of docs/performance.md, from kept results of `make bench`."""

from pathlib import Path

import pandas as pd

from dpfl.base import files
from dpfl.docs import markdown

NETWORKS = {"mnist-cnn": "MNIST CNN", "cifar10-cnn": "CIFAR CNN"}
COMPARED, LARGE = 256, 1024
"""Batches at which times and memory are compared."""


def steps(bench: Path) -> str:
    """Return CPU time of a private step by contender, as a multiple of non-private training."""
    table = files.read_table(bench / "steps.csv")
    heads = [f"{name}, batch {COMPARED}" for name in NETWORKS.values()]
    compared, large = (table[table["batch"] == batch] for batch in (COMPARED, LARGE))
    return _table(compared, heads, large, f"memory, CIFAR CNN, batch {LARGE}")


def splits(bench: Path) -> str:
    """Return CPU time and memory of steps that take gradients apart, as a multiple of DP-SGD."""
    table = files.read_table(bench / "splits.csv")
    return _table(table, list(NETWORKS.values()), table, "memory, CIFAR CNN")


def rounds(bench: Path) -> str:
    """Return federated rounds per CPU second."""
    table = files.read_table(bench / "rounds.csv")
    rows = [[row.loop, f"{row.per_second:.2f}"] for row in table.itertuples()]
    return markdown.table(["loop", "federated rounds per CPU second"], rows)


def _table(compared: pd.DataFrame, heads: list[str], large: pd.DataFrame, memory: str) -> str:
    """Return times of both networks, and the memory of the larger one."""
    own = large[large["model"] == "cifar10-cnn"]
    peaks = dict(zip(own["contender"], own["peak_mb"], strict=True))
    rows = [[*row, _gigabytes(peaks.get(row[0]))] for row in _ratios(compared)]
    return markdown.table(["step", *heads, memory], rows)


def _ratios(table: pd.DataFrame) -> list[list[str]]:
    found = table.pivot(index="contender", columns="model", values="ratio")
    order = table["contender"].drop_duplicates()
    return [[name, *(_ratio(found.loc[name, model]) for model in NETWORKS)] for name in order]


def _ratio(value: float) -> str:
    return "" if pd.isna(value) else f"{value:.2g}"


def _gigabytes(megabytes: float | None) -> str:
    return "" if megabytes is None or pd.isna(megabytes) else f"{megabytes / 1000:.2g} GB"
