"""The numbers that a paper printed: its published.csv, a row per number.

Every column but `table`, `row`, `metric` and `value` is a coordinate, a setting that the paper
prints beside the number; one that is empty in a row is none of that row's.
"""

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.papers import folder

COLUMNS = ("table", "row", "metric", "value")
ACCURACY = "accuracy_pct"


@dataclass(frozen=True)
class Printed:
    """One printed number, in the unit that its metric names; `line` is where it stands."""

    table: str
    row: str
    metric: str
    value: float
    coordinates: tuple[tuple[str, str], ...]
    line: int

    def coordinate(self, name: str) -> str:
        """Return one coordinate, "" for one that the row does not have."""
        return dict(self.coordinates).get(name, "")


@cache
def read(paper: str) -> tuple[Printed, ...]:
    """Return what a paper printed, in the order of its file; a paper may have printed nothing.

    Raises UserError for a file that is no table, a column that is missing or stands twice, a value
    that is no number and a row that stands twice.
    """
    path = folder.path_of(paper, folder.PUBLISHED)
    if not path.exists():
        return ()
    where = folder.shown(path)
    try:
        rows = csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8"), newline=""))
        _expect_columns(where, rows.fieldnames or ())
        found = tuple(_printed(where, rows.line_num, row) for row in rows)
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: no text in UTF-8, at byte {error.start}") from error
    except csv.Error as error:
        raise UserError(f"{where}, line {rows.line_num + 1}: no table: {error}") from error
    except OSError as error:
        raise UserError(f"{where}: {error.strerror}, expected a table") from error
    _expect_once(where, found)
    return found


def _expect_columns(where: str, names: Sequence[str]) -> None:
    for name in COLUMNS:
        if name not in names:
            raise UserError(f"{where}: no column {name!r}; expected {', '.join(COLUMNS)}")
    for number, name in enumerate(names):
        if name in names[:number]:
            raise UserError(f"{where}: the column {name!r} stands twice")


def _printed(where: str, line: int, row: dict[str, str]) -> Printed:
    if None in row or None in row.values():
        raise UserError(f"{where}, line {line}: expected as many fields as the head has")
    try:
        value = float(row["value"])
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise UserError(f"{where}, line {line}: value {row['value']!r}, expected a number")
    for name in ("table", "row", "metric"):
        if not row[name].strip():
            raise UserError(f"{where}, line {line}: {name} is empty, expected a name")
    coordinates = tuple((k, v) for k, v in row.items() if k not in COLUMNS and v != "")
    return Printed(row["table"], row["row"], row["metric"], value, coordinates, line)


def _expect_once(where: str, rows: tuple[Printed, ...]) -> None:
    lines: dict[tuple, int] = {}
    for row in rows:
        key = (row.table, row.row, row.metric, frozenset(row.coordinates))
        if key in lines:
            raise UserError(f"{where}, line {row.line}: says again what line {lines[key]} says")
        lines[key] = row.line


def table(paper: str, name: str) -> list[Printed]:
    """Return a table of a paper; UserError with the nearest name for one that it lacks."""
    rows = [row for row in read(paper) if row.table == name]
    if not rows:
        where = folder.shown(folder.path_of(paper, folder.PUBLISHED))
        raise UserError(f"{where}: no table {name!r}; {nearest(name, tables(paper))}")
    return rows


def tables(paper: str) -> list[str]:
    """Return the names of a paper's tables."""
    return list(dict.fromkeys(row.table for row in read(paper)))


def same(printed: str, ours: object) -> bool:
    """Tell whether a coordinate is a setting of ours: equal numbers, or equal texts."""
    try:
        return float(printed) == float(str(ours))
    except ValueError:
        return printed == str(ours)


def shown(paper: str) -> str:
    """Return the path of a paper's printed numbers as users write it."""
    return folder.shown(Path(folder.HOME, paper, folder.PUBLISHED))
