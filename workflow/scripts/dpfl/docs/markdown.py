"""Tables and code in Markdown."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, a line per row; a bar or a line break in a cell does not end it."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(map(_cell, line))} |" for line in lines)


def of_csv(path: Path) -> str:
    """Return a CSV file, its first line the heads, as a table."""
    with path.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    return table(heads, rows)


def code(text: object) -> str:
    """Return a text as code, nothing of an empty one."""
    return f"`{text}`" if str(text) else ""


def _cell(text: str) -> str:
    return " ".join(str(text).replace("|", "\\|").split())
