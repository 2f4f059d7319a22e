"""The pages of a report, and the links between them: every page leads to every other."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from dpfl.base import files
from dpfl.report import (
    board,
    cells_page,
    explore_page,
    layout,
    markup,
    origin,
    page,
    privacy_page,
    prose,
    provenance_page,
    statistics_page,
)
from dpfl.report.layout import LINKS
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

TITLE = "Which claims hold?"


def write(read: Mapping[str, Paper], folder: Folder, home: Path, index: Path) -> None:
    """Write the first page and those beside it, all into its folder; the first one last.

    `home` holds the papers' folders.
    """
    reference = board.reference_of(folder, read)
    first = page.context(read, folder, reference, _answers(read, folder, home))
    bodies = {
        "explore": explore_page.body(folder, read),
        "cells": cells_page.body(folder, read),
        "privacy": privacy_page.body(folder, read),
        "statistics": statistics_page.body(folder, read),
        "provenance": provenance_page.body(folder, read, reference, origin.of_run(folder)),
    }
    links = layout.links(folder)
    titles = {name: title for name, (_, title) in LINKS.items()}
    for name, body in bodies.items():
        heading = markup.part("heading", titles[name], 1)
        body = markup.joined(heading, body)
        text = layout.render("paper", name, links, title=titles[name], body=body)
        files.write_text(index.with_name(f"{name}.html"), text)
    files.write_text(index.with_name(cells_page.CSV), cells_page.csv(folder, read))
    files.write_text(index, layout.render("index", "index", links, title=TITLE, **first))


def _answers(read: Iterable[str], folder: Folder, home: Path) -> dict[str, str]:
    """Return what the page of every paper says first."""
    kept = folder.path / board.REFERENCE
    tables = folder.path / "tables"
    return {key: prose.in_short(prose.of_paper(home / key, tables / key, kept)) for key in read}
