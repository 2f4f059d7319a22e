"""What the papers printed about an accuracy, by table, data set, row, epsilon and rank."""

import csv
from functools import cache
from pathlib import Path

from dpfl import plugins

FILE = Path(__file__).parents[3] / "resources" / "published_tables.csv"


def values(
    references: list[dict], dataset: str, method: str, epsilon: float | str, variant: dict
) -> list[dict]:
    """Return the printed accuracies of a cell, in percent, each with its table and reading.

    A reference of a study names a `table`, which of its rows each method stands for (`methods`),
    and, where the table can be read in several ways, the `reading`.
    """
    found = []
    for reference in references:
        row = reference["methods"].get(method)
        value = _printed(reference["table"], base(dataset), row, epsilon, variant.get("rank"))
        if value is not None:
            head = {"table": reference["table"], "reading": reference.get("reading", "")}
            found.append({**head, "row": row, "value": value})
    return found


def rows(table: str) -> set[str]:
    """Return the rows of a table by their names."""
    return {row["method"] for row in _table() if row["table"] == table}


def tables() -> set[str]:
    """Return the tables that print accuracies, by their names."""
    return {row["table"] for row in _table()}


def _printed(
    table: str, dataset: str, row: str | None, epsilon: float | str, rank: int | None
) -> float | None:
    """Return the number of a cell; a table without ranks has it for every rank."""
    for line in _table():
        same = (line["table"], line["dataset"], line["method"]) == (table, dataset, row)
        if same and float(line["epsilon"]) == float(epsilon) and line["k"] in ("", str(rank)):
            return float(line["value"])
    return None


def base(dataset: str) -> str:
    """Return the data set that a table speaks of: features count as what they are features of."""
    return plugins.constant("data", dataset, "BASE", dataset)


@cache
def _table() -> list[dict[str, str]]:
    with FILE.open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["metric"] == "accuracy_pct"]
