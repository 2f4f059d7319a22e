"""The numbers that a page quotes: rows of the tables of one folder, picked by their settings."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from dpfl import plugins
from dpfl.base import files, yaml_file
from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.checks.paper_errors import GIVEN
from dpfl.judging.cells import same
from dpfl.tables import comparisons
from dpfl.words import cell_words

Row = dict[str, Any]
SCHEMA = plugins.ROOT.parents[1] / "schemas" / "tables.yaml"
BOOLEANS = {"True": True, "False": False}


@dataclass(frozen=True)
class Values:
    """Tables by name, such as `fsdp-k` for the cells of a study.

    `where` names columns and what they hold; numbers are compared as numbers, and a list means
    any of its values. A page gets rows alone, plain mappings: a table can write files.
    """

    OFFERED: ClassVar = frozenset(GIVEN["run"])

    folder: Path

    def has(self, name: str) -> bool:
        """Tell whether there is such a table: a run may leave out studies and analyses."""
        return (self.folder / f"{name}.csv").exists()

    def table(self, name: str) -> pd.DataFrame:
        """Return a whole table; UserError if the folder has no such table."""
        held = sorted(path.stem for path in self.folder.glob("*.csv"))
        for line in unknown([name], held, "no table", f" in {self.folder}"):
            raise UserError(line)
        return read(self.folder / f"{name}.csv")

    def rows(self, table: str, **where: Any) -> list[Row]:
        """Return the rows that agree with `where`, in the order of the table."""
        return picked(self.table(table), table, where)

    def cell(self, table: str, **where: Any) -> Row:
        """Return the one row that agrees with `where`; UserError for none or several."""
        return one(self.table(table), table, where)

    def mean(self, study: str, **where: Any) -> float:
        """Return a cell's mean test accuracy, percent."""
        return self.cell(study, **where)["accuracy_mean"]

    def brief(self, study: str, **where: Any) -> str:
        """Return a cell's accuracy for a table, `96.3 ± 0.2` or `96.3 ± 0.3 (4 of 5 trained)`."""
        return cell_words.brief(self.cell(study, **where))

    def comparison(self, study: str, **where: Any) -> Row:
        """Return one paired comparison of a study, by its sides `better` and `worse`.

        It is that of all epsilons together, unless `part` asks for another.
        """
        table = self.table(f"{study}_comparisons")
        own = table if "part" in where else comparisons.whole(table)
        return one(own, f"{study}_comparisons", where)

    def claim(self, claim: str, part: str = "overall", **where: Any) -> Row:
        """Return a part of a judged claim, by its name; of kept results, whose claims lie beside.

        `where` tells its studies apart, if it has several: `study="main"`.
        A difference has its interval as a comparison has it, in `ci_low` and `ci_high`.
        """
        table = read(self.folder.parent / "claims" / "claims.csv")
        row = one(table, "claims.csv", {"claim": claim, "part": part} | where)
        return row | {"ci_low": row["difference_low"], "ci_high": row["difference_high"]}


@dataclass(frozen=True)
class Printed:
    """The numbers that a paper prints, from its `published.csv`."""

    OFFERED: ClassVar = frozenset(GIVEN["printed"])

    path: Path

    def __call__(self, table: str, row: str, **coordinates: Any) -> float:
        """Return one printed number; UserError if the file has none or several for it."""
        where = {"table": table, "row": row} | coordinates
        return float(one(read(self.path), self.path.name, where)["value"])

    def by(self, paper: str) -> "Printed":
        """Return the numbers that another paper prints, by its key."""
        return Printed(self.path.parents[1] / paper / self.path.name)


@cache
def read(path: Path) -> pd.DataFrame:
    """Read a CSV table: a column is numbers, truths, or text with "" where nothing is known.

    What the schema of tables declares a text is one, and what it declares a number is one even if
    no row has it; a column of any other is what its values are.
    """
    raw = files.read_table(path, dtype=str, keep_default_na=False)
    return raw.assign(**{name: _typed(raw[name], _declared()[name]) for name in raw})


@cache
def _declared() -> defaultdict[str, set[str]]:
    """Return the types that columns have in tables of any kind, by their names."""
    found = defaultdict(set)
    for columns in yaml_file.read(SCHEMA, SCHEMA.name)["kinds"].values():
        for name, (kind, _) in columns.items():
            found[name].add(kind)
    return found


def picked(table: pd.DataFrame, name: str, where: Mapping[str, Any]) -> list[Row]:
    """Return the rows that agree with `where`; UserError for a column that is not there."""
    for line in unknown(where, table, "no column", f" in {name}"):
        raise UserError(line)
    rows = table.to_dict("records")
    return [row for row in rows if all(same(row[key], value) for key, value in where.items())]


def one(table: pd.DataFrame, name: str, where: Mapping[str, Any]) -> Row:
    """Return the one row that agrees with `where`; UserError for none or several."""
    found = picked(table, name, where)
    if len(found) != 1:
        said = ", ".join(f"{key}={value}" for key, value in where.items()) or "no condition"
        raise UserError(f"{len(found) or 'no'} rows of {name} with {said}, expected one")
    return found[0]


def _typed(column: pd.Series, kinds: set[str]) -> pd.Series:
    texts = set(column) - {""}
    if kinds == {"string"} or not (texts or "number" in kinds):
        return column
    if texts and texts <= BOOLEANS.keys():
        return column.map(BOOLEANS)
    try:
        return column.replace("", "nan").astype(float)
    except ValueError:
        return column
