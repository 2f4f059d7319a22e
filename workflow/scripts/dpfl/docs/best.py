"""The most accurate certified cell of kept results, by data set and budget."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpfl.docs import markdown
from dpfl.papers import folder
from dpfl.provenance import kept
from dpfl.report import forms, values
from dpfl.tables.numerals import rounded_up
from dpfl.tables.published import base
from dpfl.tables.verdicts import MIN_SPREAD

BUDGETS = (1, 2, 4, 8)
HEADS = ("data set", "ε", "method", "variant", "test accuracy, %", "ε certified", "study", "paper")
NEEDED = {"method", "epsilon", "n", "trained", "accuracy_mean", "certified", "unit"}
"""Columns of a table of cells."""


def table(reference: Path, pages: str) -> str:
    """Return a line for every data set and budget; papers' pages are at the address `pages`.

    Of cells with a certificate for one example, from MIN_SPREAD seeds on, all of which trained.
    """
    best: dict[tuple[str, float], dict[str, Any]] = {}
    for cell in _cells(reference):
        place = base(cell["dataset"]), cell["epsilon"]
        if place not in best or cell["accuracy_mean"] > best[place]["accuracy_mean"]:
            best[place] = cell
    return markdown.table(HEADS, (_row(place, best[place], pages) for place in sorted(best)))


def _cells(reference: Path) -> Iterator[dict[str, Any]]:
    for path in kept.folders(reference):
        for file in sorted((path / "tables").glob("*.csv")):
            table = values.read(file)
            if set(table) >= NEEDED:
                own = {"paper": path.parent.name, "file": file.stem}
                yield from (cell | own for cell in filter(_counts, table.to_dict("records")))


def _counts(cell: dict[str, Any]) -> bool:
    whole = cell["trained"] == cell["n"] >= MIN_SPREAD
    return bool(cell["certified"] and whole and cell["unit"] == "example") and (
        cell["epsilon"] in BUDGETS
    )


def _row(place: tuple[str, float], cell: dict[str, Any], pages: str) -> list[str]:
    paper = cell["paper"]
    title = folder.load(paper).content["studies"][cell["file"]]["title"]
    return [
        place[0],
        f"{place[1]:g}",
        markdown.code(cell["method"]),
        markdown.code(cell["variant"]),
        forms.accuracy(cell),
        rounded_up(cell["eps_certified"]),
        title,
        f"[{paper}]({pages}{paper}.md)",
    ]
