"""Tables in Markdown."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from dpfl.base import files
from dpfl.tables import rendering


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, a line per row."""
    return rendering.markdown(list(heads), [[*map(str, row)] for row in rows]).rstrip("\n")


def of_csv(path: Path) -> str:
    """Return a CSV file, its first line the heads, as a table."""
    heads, *rows = csv.reader(path.read_text("utf-8").splitlines())
    return table(heads, rows)


def of_steps(path: Path) -> str:
    """Return the CPU time of steps that `make bench` measured, as multiples, and their memory."""
    found = files.read_table(path)
    heads = dict.fromkeys(zip(found["model"], found["batch"], strict=True))
    cells = {
        (row.contender, row.model, row.batch): f"{row.ratio:.2g} ({row.peak_mb / 1000:.2g} GB)"
        for row in found.itertuples()
    }
    names = [f"{model}, batch {batch}" for model, batch in heads]
    steps = found["contender"].unique()
    return table(["step", *names], ([own, *(cells[own, *head] for head in heads)] for own in steps))
