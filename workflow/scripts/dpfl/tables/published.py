"""What was published about an accuracy, by table, data set, row, epsilon and rank.

Beside the tables of the papers that are replicated, what others have published of plain DP-SGD: a
table by the name of its source, with a row for each kind of model.
"""

import csv
from functools import cache
from pathlib import Path

from dpfl import plugins

RESOURCES = Path(__file__).parents[3] / "resources"


def values(
    references: list[dict], dataset: str, method: str, epsilon: float | str, variant: dict
) -> list[dict]:
    """Return the printed accuracies of a cell, in percent, each with its table and reading.

    A reference of a study names a `table`, which of its rows each method or each network stands for
    (`methods`, `models`), and, where the table can be read in several ways, the `reading`.
    """
    found = []
    for reference in references:
        row = reference.get("methods", {}).get(method)
        row = reference.get("models", {}).get(variant.get("model"), row)
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
    printed = [r for r in _read("published_tables.csv") if r["metric"] == "accuracy_pct"]
    names = {"source": "table", "model": "method", "accuracy": "value"}
    anchors = [
        {"k": "", **{names.get(k, k): v for k, v in r.items()}} for r in _read("anchors.csv")
    ]
    return [*printed, *anchors]


def _read(name: str) -> list[dict[str, str]]:
    with (RESOURCES / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
