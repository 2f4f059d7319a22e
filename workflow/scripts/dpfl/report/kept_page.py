"""Pages of kept results: the list of all, and one that was kept before provenance was recorded."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import mistune
from markupsafe import Markup

from dpfl.figures import families
from dpfl.report import board, kept_words, layout, markup, paper, prose
from dpfl.report.paper import Paper

LIST, OLD = "kept", "kept-before"
TITLE = "Kept results"
REPORTS = "{scale}/reports/"
"""From that list to the pages of a scale."""
INDEX = "index.html"


def of_all(
    kept: Iterable[tuple[Path, dict[str, Any] | None]],
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
            "told": kept_words.of(about) or [kept_words.MARK],
        }
        for folder, about in kept
    ]
    pages = _first_pages(kept)
    links = [(page, f"Scale {scale}") for scale, page in sorted(pages.items())]
    beside = next((page for page in pages.values() if page.endswith(INDEX)), "")
    shown = board.of_kept(read, reference, REPORTS, answers)
    return layout.render(
        LIST, "kept", links, title=TITLE, rows=rows, board=shown, beside=beside.removesuffix(INDEX)
    )


def _first_pages(kept: Iterable[tuple[Path, dict[str, Any] | None]]) -> dict[str, str]:
    """Return the first page of every scale: that of one without any is a paper's own."""
    pages: dict[str, str] = {}
    for folder, about in kept:
        home = REPORTS.format(scale=folder.name)
        pages.setdefault(folder.name, f"{home}{folder.parent.name}.html")
        if about:
            pages[folder.name] = f"{home}{INDEX}"
    return pages


def before_provenance(folder: Path, home: Path, reference: Path) -> str:
    """Return the page of an old folder: what it is, the paper's own page, its tables and figures.

    The tables are as they were written, but for the names of methods: their columns have other
    names than today's. Of figures those that the paper's page does not show.
    """
    own = home / folder.parent.name
    text, shown = prose.with_pictures(own, folder / "tables", reference)
    return layout.render(
        OLD,
        own.name,
        [layout.ALL_KEPT],
        title=f"{own.name}, scale {folder.name}",
        paper=paper.read(own),
        scale=folder.name,
        mark=kept_words.SO,
        found=_html(text),
        tables=[(path.stem, _html(_read(path))) for path in _files(folder, "tables", "md")],
        figures=[
            Markup(prose.embedded(path, f"{path.parent.name}: {path.stem}"))
            for path in _files(folder, "figures", "png")
            if path.resolve() not in shown
        ],
    )


def _html(text: str) -> Markup:
    """Return Markdown, with HTML in it, as HTML."""
    return markup.boxed(mistune.create_markdown(escape=False, plugins=["table"])(text))


def _read(path: Path) -> str:
    return families.named(path.read_text(encoding="utf-8"))


def _files(folder: Path, part: str, form: str) -> list[Path]:
    return sorted((folder / part).rglob(f"*.{form}"))
