"""The numbers that a paper printed: its published.csv, a row per number.

Columns are `table`, `row`, `metric`, `value` and those of TOLD. Every other one is a coordinate, a
setting that the paper prints beside the number; one that is empty in a row is none of that row's.

Ours is test accuracy of the model after the last round. Theirs is seldom of the same kind. What a
table prints, its paper.yaml says:

    printed:
      table 3: { accuracy: training, epochs: 25 }

Both keys may be left out for what is not printed; a column `epochs` of published.csv goes first.
A third, `by`, names the paper that a table was taken from, if it is another one that ran the method
again.
"""

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.papers import folder
from dpfl.words.numerals import counted

NAMES = ("table", "row", "metric")
COLUMNS = (*NAMES, "value")
TOLD = ("printed_sd", "printed_n", "page", "read_in", "known_by", "not_run")
"""Columns that may be left out: the number's spread and seeds, its page, what it was read in (file
or table). Then by whom it is known, if the paper was not read, and why no study runs it."""
ACCURACY = "accuracy_pct"
FOREIGN = {"\ufeff": "a byte-order mark", ";": "a semicolon between columns"}
"""What spreadsheets write into the head of a table."""
UNSAID = "accuracy, of which examples is not said,"


@dataclass(frozen=True)
class Printed:
    """One printed number, in the unit that its metric names; `line` is where it stands."""

    table: str
    row: str
    metric: str
    value: float
    coordinates: tuple[tuple[str, str], ...]
    line: int
    told: tuple[tuple[str, str], ...] = ()

    def coordinate(self, name: str) -> str:
        """Return one coordinate, "" for one that the row does not have."""
        return dict(self.coordinates).get(name, "")


@cache
def read(paper: str) -> tuple[Printed, ...]:
    """Return what a paper printed, in the order of its file; a paper may have printed nothing.

    Raises UserError for a file that is no table, a column that is missing or stands twice, a value
    that is no number, percent out of range and a row that stands twice.
    """
    path, where = folder.path_of(paper, folder.PUBLISHED), shown(paper)
    if not path.exists():
        return ()
    try:
        rows = csv.DictReader(io.StringIO(path.read_bytes().decode("utf-8"), newline=""))
        _expect_columns(where, rows.fieldnames or ())
        found: dict[tuple, Printed] = {}
        for row in rows:
            one = _printed(f"{where}, line {rows.line_num}", rows.line_num, row)
            first = found.setdefault((one.table, one.row, one.metric, one.coordinates), one)
            if first is not one:
                said = f"says again what line {first.line} says"
                raise UserError(f"{where}, line {one.line}: {said}")
    except UnicodeDecodeError as error:
        raise UserError(f"{where}: no text in UTF-8, at byte {error.start}") from error
    except csv.Error as error:
        raise UserError(f"{where}, line {rows.line_num + 1}: no table: {error}") from error
    except OSError as error:
        raise UserError(f"{where}: {error.strerror}, expected a table") from error
    return tuple(found.values())


def _expect_columns(where: str, names: Sequence[str]) -> None:
    head = ",".join(names)
    for sign, called in FOREIGN.items():
        if sign in head:
            place = f"{where}, line 1, column {head.index(sign) + 1}"
            raise UserError(f"{place}: {called}; save it as UTF-8 text with commas")
    for name in COLUMNS:
        if name not in names:
            raise UserError(f"{where}: no column {name!r}; expected {', '.join(COLUMNS)}")
    for name in names:
        if names.count(name) > 1:
            raise UserError(f"{where}: the column {name!r} stands twice")


def _printed(where: str, line: int, row: dict[str, str]) -> Printed:
    if None in row or None in row.values():
        raise UserError(f"{where}: expected as many fields as the head has")
    value, percent = _number(row["value"]), row["metric"].endswith("_pct")
    spread = [name for name in TOLD[:2] if row.get(name)]
    beyond = percent and not 0 <= value <= 100
    wrong = {
        f"value {row['value']!r}, expected a number": not math.isfinite(value),
        f"value {row['value']!r}, expected percent from 0 to 100": beyond,
        **{f"{name} is empty, expected a name": not row[name].strip() for name in NAMES},
        **{f"{n} {row[n]!r}, expected 0 or more": not 0 <= _number(row[n]) < 1e9 for n in spread},
        "read_in: expected file or table": row.get("read_in", "") not in ("", "file", "table"),
    }
    for told in (told for told, found in wrong.items() if found):
        raise UserError(f"{where}: {told}")
    told = tuple((name, row[name]) for name in TOLD if row.get(name))
    named = tuple((k, v) for k, v in row.items() if k not in (*COLUMNS, *TOLD) and v != "")
    return Printed(*(row[name] for name in NAMES), value, named, line, told)


def table(paper: str, name: str) -> list[Printed]:
    """Return a table of a paper; UserError with the nearest name for one that it lacks."""
    rows = [row for row in read(paper) if row.table == name]
    if not rows:
        raise UserError(f"{shown(paper)}: no table {name!r}; {nearest(name, tables(paper))}")
    return rows


def tables(paper: str) -> list[str]:
    """Return the names of a paper's tables."""
    return list(dict.fromkeys(row.table for row in read(paper)))


def same(printed: str, ours: object) -> bool:
    """Tell whether a coordinate is a setting of ours: equal numbers, or equal texts."""
    return printed == str(ours) or _number(printed) == _number(str(ours))


def _number(text: str) -> float:
    """Read a number; NaN, which equals nothing, for a text that is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def compared(paper: str, number: Printed, length: str) -> str:
    """Return what is compared with what; `length` says how long ours trains, as `10 epochs`."""
    said = folder.load(paper).about.get("printed", {}).get(number.table, {})
    theirs = f"{said['accuracy']} accuracy" if "accuracy" in said else UNSAID
    epochs = number.coordinate("epochs") or said.get("epochs")
    after = f" after {counted(float(epochs), 'epoch')}" if epochs else ", epochs not printed"
    rerun = f", of a rerun by {said['by']}" if "by" in said else ""
    told = f"test accuracy after {length} beside printed {theirs}{after}{rerun}"
    return told.replace(",,", ",")


def by(about: Mapping[str, Any], table: str) -> str:
    """Return which other paper printed a table of a paper.yaml; "" if it was the paper itself."""
    return about.get("printed", {}).get(table, {}).get("by", "")


def shown(paper: str) -> str:
    """Return the path of a paper's printed numbers as users write it."""
    return folder.shown(folder.HOME / paper / folder.PUBLISHED)
