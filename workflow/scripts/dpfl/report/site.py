"""The pages of a report, and the links between them: every page leads to every other."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl import files
from dpfl.papers import folder as papers
from dpfl.report import (
    board,
    cells_page,
    explore_page,
    markup,
    origin,
    page,
    privacy_page,
    prose,
    provenance_page,
    statistics_page,
)
from dpfl.report.layout import LINKS, render
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder


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
    titles = {name: title for name, (_, title) in LINKS.items()}
    for name, body in bodies.items():
        heading = markup.part("heading", titles[name], 1)
        text = render("paper", name, title=titles[name], body=markup.joined(heading, body))
        files.write_text(index.with_name(f"{name}.html"), text)
    files.write_text(index.with_name(cells_page.CSV), cells_page.csv(folder, read))
    files.write_text(index, _index(first))


def _answers(read: Iterable[str], folder: Folder, home: Path) -> dict[str, str]:
    """Return what the page of every paper says first."""
    kept = folder.path / board.REFERENCE
    pages = {key: home / key for key in read if (home / key / papers.PAGE).exists()}
    return {
        key: prose.in_short(prose.of_paper(own, folder.path / "tables" / key, kept))
        for key, own in pages.items()
    }


def _index(shown: dict[str, Any]) -> Markup:
    return render("index", "index", title="Which claims hold?", **shown)
