"""What the first page shows: the board of claims, and how many runs stand behind it."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.report import board, narrative, paper, published_table, unfinished_words, values
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import verdicts


def papers(keys: Iterable[str], home: Path) -> dict[str, Paper]:
    """Read papers by their keys from the folder of all papers."""
    return {key: paper.read(home / key) for key in keys}


def context(
    read: Mapping[str, Paper], folder: Folder, reference: Path | None, answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return everything the first page shows; `reference` holds kept results.

    `answers` are what the pages of papers say of kept results first.
    """
    shown = board.context(read, folder, reference, answers)
    outlines = {key: folder.outline(key) for key in read}
    studies = [folder.study(name) for outline in outlines.values() for name in outline["studies"]]
    return {
        "board": shown,
        "unfinished": unfinished_words.of_papers(outlines.values()),
        "runs": _count(folder, read, studies),
    }


def beside(folder: Folder, read: Mapping[str, Paper]) -> list[str]:
    """Set the best certified mean of each study beside what other papers print at its (ε, δ).

    Of studies that compare tuned methods: not of grids of rates, nor of fewer seeds than give a
    spread.
    """
    printed = values.read(folder.path / "tables" / "published.csv")
    cited = {key: of.short for key, of in read.items()}
    return [
        f"{name}: {line}"
        for key in read
        for name in folder.outline(key)["studies"]
        if folder.study(name)["kind"] != "rates"
        for cells in [folder.cells(name)]
        for line in _beside(cells[cells["n"] >= verdicts.MIN_SPREAD], printed, key, cited)
    ]


def provenance(studies: Iterable[dict], runs_dir: Path) -> dict[str, Any]:
    """Return how many runs stand behind the page, and the versions and hardware they name."""
    runs = _runs(studies)
    summaries = [files.read_json(runs_dir / run / "summary.json") for run in runs]
    return {
        "runs": len(runs),
        "versions": _distinct(summary["versions"] for summary in summaries),
        "hardware": _distinct(summary["hardware"] for summary in summaries),
    }


def _beside(
    cells: pd.DataFrame, printed: pd.DataFrame, key: str, cited: Mapping[str, str]
) -> list[str]:
    return narrative.anchors(cells, published_table.of_others(printed, key, cited))


def _count(folder: Folder, read: Iterable[str], studies: Iterable[dict]) -> int:
    """Return how many runs were trained, or by what kept results say of them."""
    kept = [about for about in map(folder.kept, read) if about]
    return sum(about["runs"]["trained"] for about in kept) if kept else len(_runs(studies))


def _runs(studies: Iterable[dict]) -> list[str]:
    return list(dict.fromkeys(run for s in studies for cell in s["cells"] for run in cell["runs"]))


def _distinct(records: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the distinct values of each key over many records."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.items():
            found.setdefault(key, {})[str(value)] = None
    return {key: ", ".join(values) for key, values in found.items()}
