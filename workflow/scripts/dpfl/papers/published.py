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
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts import bounds
from dpfl.papers import folder
from dpfl.words.numerals import counted

NAMES = ("table", "row", "metric")
COLUMNS = (*NAMES, "value")
TOLD = ("printed_sd", "printed_n", "page", "read_in", "known_by", "not_run")
"""Columns that may be left out: the number's spread and seeds, its page, what it was read in (file
or table). Then by whom it is known, if the paper was not read, and why no study runs it."""
ACCURACY = "accuracy_pct"
LIMITS = {
    **{"value": "number", "printed_sd": "number >= 0", "printed_n": "number >= 0"},
    "read_in": "one of file, table",
}
"""Of what stands in a column; of percent see `_printed`."""
UNSAID = "accuracy, of which examples is not said"


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
    found: dict[tuple, Printed] = {}
    for line, row in lines(path, where, COLUMNS):
        one = _printed(f"{where}, line {line}", line, row)
        first = found.setdefault((one.table, one.row, one.metric, one.coordinates), one)
        if first is not one:
            raise UserError(f"{where}, line {line}: says again what line {first.line} says")
    return tuple(found.values())


def lines(path: Path, where: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the rows of a table that people write, each with its line; `columns` have to be there.

    UserError for a file that is no table, a column that is missing or there twice, and a row with
    more or fewer fields than the head.
    """
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            _expect_columns(where, rows.fieldnames or (), columns)
            for row in rows:
                if None in row or None in row.values():
                    said = "expected as many fields as the head has"
                    raise UserError(f"{where}, line {rows.line_num}: {said}")
                yield rows.line_num, row
    except (UnicodeDecodeError, csv.Error, OSError) as error:
        raise UserError(f"{where}: no table: {error}") from error


def _expect_columns(where: str, names: Sequence[str], needed: Sequence[str]) -> None:
    if ";" in (head := ",".join(names)):
        place = f"{where}, line 1, column {head.index(';') + 1}"
        raise UserError(f"{place}: a semicolon between columns; save it with commas")
    for name in (name for name in (*needed, *names) if names.count(name) != 1):
        raise UserError(f"{where}: {names.count(name)} columns {name!r} in the head, expected one")


def _printed(where: str, line: int, row: dict[str, str]) -> Printed:
    for name in (name for name in NAMES if not row[name].strip()):
        raise UserError(f"{where}: {name} is empty, expected a name")
    numbers = {name: number(text) for name, text in row.items()}
    given = {n: row[n] if math.isnan(numbers[n]) else numbers[n] for n in LIMITS if row.get(n)}
    percent = {"value": "number in [0, 100]"} if row["metric"].endswith("_pct") else {}
    bounds.check(where, LIMITS | percent, {"value": ""} | given)
    told = tuple((name, row[name]) for name in TOLD if row.get(name))
    named = tuple((k, v) for k, v in row.items() if k not in (*COLUMNS, *TOLD) and v != "")
    return Printed(*(row[name] for name in NAMES), numbers["value"], named, line, told)


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
    return printed == str(ours) or number(printed) == number(str(ours))


def number(text: str) -> float:
    """Read a number; NaN, which equals nothing, for a text that is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def compared(paper: str, number: Printed, length: str) -> str:
    """Return what is compared with what; `length` says how long ours trains, as `10 epochs`."""
    said = folder.load(paper).about.get("printed", {}).get(number.table, {})
    epochs = number.coordinate("epochs") or said.get("epochs")
    theirs = f"{said['accuracy']} accuracy" if "accuracy" in said else UNSAID
    after = f"after {counted(float(epochs), 'epoch')}" if epochs else "epochs not printed"
    comma = "" if epochs and "accuracy" in said else ","
    rerun = f", of a rerun by {said['by']}" if "by" in said else ""
    return f"test accuracy after {length} against printed {theirs}{comma} {after}{rerun}"


def by(about: Mapping[str, Any], table: str) -> str:
    """Return which other paper printed a table of a paper.yaml; "" if it was the paper itself."""
    return about.get("printed", {}).get(table, {}).get("by", "")


def shown(paper: str) -> str:
    """Return the path of a paper's printed numbers as users write it."""
    return folder.shown(folder.HOME / paper / folder.PUBLISHED)
