"""The printed numbers that a claim speaks of, each with the runs that stand beside it.

The table of published numbers has matched them with the study's cells, by all their coordinates,
and names the runs: nothing is matched a second time here.
"""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.judging import cells, rows
from dpfl.judging.claims import PRIVACY
from dpfl.judging.evidence import Evidence
from dpfl.judging.published import FIXED
from dpfl.seeds import verdicts
from dpfl.words.numerals import known, text
from dpfl.words.vocabulary import NOT_RUN

OURS = frozenset({*FIXED, "value"})
"""Columns of the table of published numbers that are no coordinates."""


@dataclass(frozen=True)
class Number:
    """One printed number: `coordinates` say where it stands, `runs` are ours beside it.

    `compared` says what is compared with what, `found` are the columns of a claim that the table
    of published numbers has judged.
    """

    name: str
    value: float
    metric: str
    coordinates: dict[str, object]
    runs: pd.DataFrame
    compared: str = ""
    found: rows.Row = field(default_factory=dict)

    @property
    def epsilon(self) -> float:
        """Return the budget the number was printed for, nan without one."""
        return float(self.coordinates.get("epsilon", np.nan))


def numbers(
    claim: dict, evidence: Evidence, table: str, row: str | None = None, method: str = ""
) -> list[Number]:
    """Return the numbers of a row, or of all rows that stand for a method; UserError for none."""
    found = lines(claim, evidence, {"table": table} | ({"row": row} if row is not None else {}))
    found = cells.chosen(claim, found, claim.get("cells", {}))
    own = (found["study"] == claim["study"]) & (found["method"] == (method or claim["method"]))
    keys = coordinates(found)
    blank = found.assign(runs=found["runs"].where(own, ""))
    kept = found[own] if row is None else blank[own | unmatched(found, own, ["metric", *keys])]
    several = kept["reading"].nunique() > 1 if "reading" in kept else False
    shown = [*keys, *["reading"] * several, *["metric"] * (kept["metric"].nunique() > 1)]
    return [_number(evidence, line, keys, shown) for _, line in kept.iterrows()]


def lines(claim: dict, evidence: Evidence, wanted: dict[str, object]) -> pd.DataFrame:
    """Return the lines of the table of published numbers at a place; UserError for none."""
    found = cells.chosen(claim, evidence.printed, wanted)
    if not len(found):
        place = ", ".join(f"{key} {value}" for key, value in wanted.items())
        raise UserError(f"claim {claim['id']}: nothing is printed at {place}")
    return found


def unmatched(found: pd.DataFrame, own: pd.Series, keys: list[str]) -> pd.Series:
    """Tell the first line of every printed number that none of our `own` lines is about."""
    places = found.groupby(keys, sort=False, dropna=False).ngroup()
    return ~places.isin(places[own]) & ~places.duplicated()


def beside(measured: verdicts.Interval, value: float) -> rows.Row:
    """Return the columns of our value beside a printed one."""
    return rows.interval("ours", measured) | {
        "difference": measured.mean - value,
        "difference_low": measured.low - value,
        "difference_high": measured.high - value,
    }


def coordinates(printed: pd.DataFrame) -> list[str]:
    """Return the columns that say where a printed number stands."""
    return [key for key in printed if key not in OURS]


def _number(evidence: Evidence, line: pd.Series, keys: list[str], shown: list[str]) -> Number:
    place = {key: line[key] for key in keys if known(line[key])}
    names = str(line["runs"]).split() if known(line["runs"]) else []
    runs = evidence.runs
    runs = runs[runs["run"].isin(names) & (runs["method"] == line["method"])]
    runs = runs.drop_duplicates("run")  # two cells may share one
    name = ", ".join(f"{key} {text(line[key])}" for key in shown if known(line[key]))
    compared = line.get("compared", "")
    return Number(
        name or str(line["row"]),
        float(line["printed"]),
        str(line["metric"]),
        place,
        runs,
        compared if known(compared) else "",
        _judged(line) if len(runs) else {**NOT_RUN._asdict(), "n": 0},
    )


def _judged(line: pd.Series) -> rows.Row:
    """Return what the table says of our value beside a printed one, under the names of a claim."""
    value, low, high = (line[name] for name in ("ours", "ci_low", "ci_high"))
    measured = verdicts.Interval(value, low, high, line["n"], np.nan)
    kept = ("verdict", "needs", "failed", "runs", *PRIVACY)
    return beside(measured, line["printed"]) | {name: line[name] for name in kept}
