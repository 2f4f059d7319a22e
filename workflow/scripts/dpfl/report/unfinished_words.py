"""What a page says of runs that did not finish."""

from collections.abc import Iterable
from typing import Any

from dpfl.figures import families
from dpfl.tables import results
from dpfl.words.numerals import counted


def of_cell(mark: dict[str, Any]) -> str:
    """Say which runs of a cell are missing, why, and where to read on."""
    seeds = ", ".join(map(str, mark["seeds"]))
    cell = families.named(results.named(mark))
    return f"{cell}, seed {seeds}: {mark['message']} (`{mark['log']}`)"


def of_study(marks: list[dict[str, Any]]) -> list[str]:
    """Say which cells of a study are left out; nothing if none is."""
    return [f"Not finished, and left out here: {of_cell(mark)}" for mark in marks]


def of_papers(outlines: Iterable[dict[str, Any]]) -> list[str]:
    """Say of every study of some papers which cells are left out, if any are."""
    studies = [study for outline in outlines for study in outline.get("unfinished", {}).values()]
    if not studies:
        return []
    count = counted(
        len({run for s in studies for cell in s["cells"] for run in cell["runs"]}), "run"
    )
    head = f"{count} did not finish. What needs them is left out or open; all else is complete."
    lines = [f"{study['title']}: {of_cell(mark)}" for study in studies for mark in study["cells"]]
    return [head, *lines]
