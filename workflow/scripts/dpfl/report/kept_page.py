"""The page of all kept results: their board, and where each folder comes from."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpfl.report import board, kept_words, layout
from dpfl.report.paper import Paper

LIST = "kept"
TITLE = "Kept results"
REPORTS = "{scale}/reports/"
"""From that list to the pages of a scale."""
INDEX = "index.html"


def of_all(
    kept: Iterable[tuple[Path, dict[str, Any]]],
    read: Mapping[str, Paper],
    reference: Path,
    answers: Mapping[str, str],
) -> str:
    """Return the board of all kept results, with where each folder comes from.

    `answers` are what the pages of papers say first.
    """
    kept = list(kept)
    rows = [
        {
            "paper": read[folder.parent.name],
            "scale": folder.name,
            "href": f"{REPORTS.format(scale=folder.name)}{folder.parent.name}.html",
            "told": kept_words.of(about),
        }
        for folder, about in kept
    ]
    homes = [REPORTS.format(scale=scale) for scale in sorted({folder.name for folder, _ in kept})]
    links = [(f"{home}{INDEX}", f"Scale {home.split('/')[0]}") for home in homes]
    shown = board.of_kept(read, reference, REPORTS, answers)
    return layout.render(
        LIST, "kept", links, title=TITLE, rows=rows, board=shown, beside=next(iter(homes), "")
    )
