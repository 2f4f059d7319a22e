"""Pages of kept results: the list of all, and one that was kept before provenance was recorded."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mistune
from markupsafe import Markup

from dpfl.papers import folder as papers
from dpfl.report import kept_words, layout, markup, paper, prose

LIST, OLD = "kept", "kept-before"
TITLE = "Kept results"


def of_all(kept: Iterable[tuple[Path, dict[str, Any] | None]], home: Path) -> str:
    """Return the page that leads to the pages of all kept folders, with where each comes from."""
    kept = list(kept)
    rows = [
        {
            "paper": paper.read(home / folder.parent.name),
            "scale": folder.name,
            "told": kept_words.of(about) or [kept_words.MARK],
        }
        for folder, about in kept
    ]
    boards = sorted({folder.name for folder, about in kept if about})
    links = [(f"{scale}/reports/index.html", f"Claims, scale {scale}") for scale in boards]
    return layout.render(LIST, "kept", links, title=TITLE, rows=rows)


def before_provenance(folder: Path, home: Path, reference: Path, results: Path) -> str:
    """Return the page of an old folder: its mark, the paper's own page, its tables and figures.

    The tables are shown in the words in which they were written: their columns have other names
    than today's. `results` is a results folder that holds them.
    """
    own = home / folder.parent.name
    told = (own / papers.PAGE).exists()
    found = prose.of_paper(own, results, reference, prose.embedded) if told else ""
    return layout.render(
        OLD,
        own.name,
        [("../../index.html", "All kept results")],
        title=f"{own.name}, scale {folder.name}",
        paper=paper.read(own),
        scale=folder.name,
        mark=kept_words.MARK,
        found=_html(found),
        tables=[(path.stem, _html(_read(path))) for path in _files(folder, "tables", "md")],
        figures=[
            Markup(prose.embedded(path, f"{path.parent.name}: {path.stem}"))
            for path in _files(folder, "figures", "png")
        ],
    )


def _html(text: str) -> Markup:
    """Return Markdown, with HTML in it, as HTML."""
    return markup.boxed(mistune.create_markdown(escape=False, plugins=["table"])(text))


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _files(folder: Path, part: str, form: str) -> list[Path]:
    return sorted((folder / part).rglob(f"*.{form}"))
