"""Tables and code in Markdown."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpfl.tables import rendering


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, a line per row."""
    return rendering.markdown(list(heads), [[*map(str, row)] for row in rows]).rstrip("\n")


def of_csv(path: Path) -> str:
    """Return a CSV file, its first line the heads, as a table."""
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    return table(heads, rows)


def code(text: object) -> str:
    """Return a text as code, nothing of an empty one."""
    return f"`{text}`" if str(text) else ""
