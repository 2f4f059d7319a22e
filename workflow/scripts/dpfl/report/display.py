"""What the notebooks show: sentences as a list, tables and pictures that the workflow has made."""

from collections.abc import Iterable
from pathlib import Path

import pandas as pd
from IPython.display import Image, Markdown, display

from dpfl.report.reader import Folder, shown_width
from dpfl.tables import rendering


def heading(text: str, level: int = 2) -> None:
    """Show a heading."""
    display(Markdown(f"{'#' * level} {text}"))


def say(*lines: str) -> None:
    """Show sentences as a list; nothing without a sentence."""
    if lines:
        display(Markdown("\n".join(f"- {line}" for line in lines)))


def table(folder: Folder, name: str) -> None:
    """Show a table as the workflow wrote it."""
    display(Markdown(folder.text(name)))


def grid(cells: pd.DataFrame) -> None:
    """Show accuracies with a line per method and a column per epsilon."""
    rows(*rendering.grid(cells))


def rows(heads: list[str], lines: list[list[str]]) -> None:
    """Show a table of text; nothing without a line."""
    if lines:
        display(Markdown(rendering.markdown(heads, lines)))


def picture(path: Path, alt: str) -> None:
    """Show one picture, with words for those who cannot see it."""
    display(Image(filename=str(path), width=shown_width(path), alt=alt))


def pictures(folder: Folder, study: dict, kinds: Iterable[str] | None = None) -> None:
    """Show the figures of a study, all of them or those of some kinds."""
    for path in folder.figures(study):
        if kinds is None or path.stem in kinds:
            picture(path, f"{study['title']}: {path.stem}")
