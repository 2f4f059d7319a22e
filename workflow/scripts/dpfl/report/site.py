"""The pages of a report beside those of papers, and the page of all kept results."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.report import board, cells_page, layout, markup, method_page, prose, unfinished_words
from dpfl.report.layout import LINKS
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

TITLE, ALL = "Which claims hold?", "Kept results"
INDEX, REPORTS = "index.html", "{scale}/reports/"
"""The first page of a scale, and from the page of all kept results to those of a scale."""


def write(read: Mapping[str, Paper], folder: Folder, home: Path, index: Path) -> None:
    """Write the first page and those beside it, all into its folder; the first one last.

    `home` holds the papers' folders.
    """
    kept = folder.path / board.REFERENCE
    answers = {key: prose.answer(home / key, folder.path / "tables" / key, kept) for key in read}
    first = context(read, folder, answers)
    bodies = {
        "cells": cells_page.body(folder, read),
        "method": method_page.body(folder, read, board.reference_of(folder, read)),
    }
    links = layout.links(folder)
    for name, body in bodies.items():
        title = LINKS[name][1]
        body = markup.joined(markup.part("heading", title, 1), body)
        text = layout.render("paper", name, links, title=title, body=body)
        files.write_text(index.with_name(f"{name}.html"), text)
    files.write_text(index.with_name(cells_page.CSV), cells_page.csv(folder, read))
    files.write_text(index, layout.render("index", "index", links, title=TITLE, **first))


def context(
    read: Mapping[str, Paper], folder: Folder, answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return everything the first page shows.

    `answers` are what the pages of papers say of kept results first.
    """
    shown = board.context(read, folder, board.reference_of(folder, read), answers)
    outlines = [folder.outline(key) for key in read]
    studies = [folder.study(name) for outline in outlines for name in outline["studies"]]
    kept = [about for about in map(folder.kept, read) if about]
    runs = sum(about["runs"]["trained"] for about in kept)
    return {
        "board": shown,
        "unfinished": unfinished_words.of_papers(outlines),
        "runs": runs if kept else len(method_page.runs_of(studies)),
    }


def of_all_kept(
    found: Iterable[tuple[Path, dict[str, Any]]],
    read: Mapping[str, Paper],
    reference: Path,
    answers: Mapping[str, str],
) -> str:
    """Return the page of all kept results: their board, and where each folder comes from."""
    found = list(found)
    homes = [REPORTS.format(scale=scale) for scale in sorted({path.name for path, _ in found})]
    links = [(f"{home}{INDEX}", f"Scale {home.split('/')[0]}") for home in homes]
    own = [(read[path.parent.name].short, about) for path, about in found]
    shown = board.of_kept(read, reference, REPORTS, answers)
    beside = next(iter(homes), "")
    rows = method_page.of_kept(own)
    return layout.render("kept", "kept", links, title=ALL, rows=rows, board=shown, beside=beside)
