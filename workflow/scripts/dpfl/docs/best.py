"""The most accurate certified cell of kept results, by data set and budget."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpfl.docs import markdown
from dpfl.figures import datasets, families
from dpfl.papers import folder
from dpfl.papers.datasets import base
from dpfl.provenance import kept
from dpfl.report import values
from dpfl.seeds.verdicts import MIN_SPREAD
from dpfl.words import cell_words, forms
from dpfl.words.numerals import rounded_up

BUDGETS = (1, 2, 4, 8)
HEADS = (
    "data set",
    "ε at most",
    "method",
    "variant",
    "accuracy, %",
    "ε certified",
    "study",
    "paper",
)
NEEDED = {"method", "eps_certified", "n", "trained", "accuracy_mean", "certified", "unit"}
"""Columns of a table of cells."""
Cell = Mapping[str, Any]


def table(reference: Path, pages: str) -> str:
    """Return a line for every data set and budget; papers' pages are at the address `pages`.

    Of cells with a certificate for one example, from MIN_SPREAD seeds on, all of which trained, at
    a tuned rate. What is certified at a smaller ε is so at a larger one.
    """
    cells = list(_cells(reference))
    names = sorted({base(cell["dataset"]) for cell in cells})
    places = ((name, budget) for name in names for budget in BUDGETS)
    held = ((place, _within(cells, *place)) for place in places)
    return markdown.table(HEADS, (_row(place, _best(own), pages) for place, own in held if own))


def _within(cells: list[Cell], dataset: str, budget: float) -> list[Cell]:
    return [
        cell
        for cell in cells
        if base(cell["dataset"]) == dataset and cell["eps_certified"] <= budget
    ]


def _best(cells: list[Cell]) -> Cell:
    return max(cells, key=lambda cell: cell["accuracy_mean"])


def _cells(reference: Path) -> Iterator[Cell]:
    for path in kept.folders(reference):
        for study in sorted(_tuned(path.parent.name, path.name)):
            file = path / "tables" / f"{study}.csv"
            if file.exists() and set(values.read(file)) >= NEEDED:
                own = {"paper": path.parent.name, "file": study}
                cells = values.read(file).to_dict("records")
                yield from (cell | own for cell in filter(_counts, cells))


def _tuned(paper: str, scale: str) -> set[str]:
    """Return the studies of a paper whose rates are chosen by trials at a scale."""
    content = folder.load(paper).content
    layers = (content["studies"], content["scales"].get(scale, {}).get("studies") or {})
    return {name for layer in layers for name, study in layer.items() if "tuned_by" in study}


def _counts(cell: Cell) -> bool:
    whole = cell["trained"] == cell["n"] >= MIN_SPREAD
    return bool(cell["certified"] and whole and cell["unit"] == "example")


def _row(place: tuple[str, float], cell: Cell, pages: str) -> list[str]:
    paper = cell["paper"]
    title = folder.load(paper).content["studies"][cell["file"]]["title"]
    return [
        datasets.title(place[0]),
        f"{place[1]:g}",
        families.title(cell["method"]),
        markdown.code(cell["variant"]),
        forms.accuracy(cell) + cell_words.at_edge(cell),
        rounded_up(cell["eps_certified"]),
        title,
        f"[{paper}]({pages}{paper}.md)",
    ]
