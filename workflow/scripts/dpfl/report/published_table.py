"""What a paper printed beside what was found: one line per printed number of a study."""

import pandas as pd

from dpfl.figures import datasets, families
from dpfl.judging.published import FIXED
from dpfl.report import claims_table
from dpfl.words.numerals import known
from dpfl.words.vocabulary import NOT_RUN

PRINTED = ["table", "row", "at", "printed"]
HEADS = ["table", "row", "at", "printed", "method", "compared", "ours", "difference", "verdict"]


def beside(published: pd.DataFrame, study: str) -> list[list[str]]:
    """Return the lines of a study, named {paper}/{study}, under HEADS."""
    own = published[published["study"] == study]
    coordinates = [name for name in published.columns if name not in FIXED]
    return [_line(row, coordinates) for row in own.to_dict("records")]


def not_run(published: pd.DataFrame) -> list[list[str]]:
    """Return the lines of the numbers that no cell stands beside, under PRINTED."""
    own = published[published["verdict"] == NOT_RUN]
    coordinates = [name for name in published.columns if name not in FIXED]
    return [
        [
            str(row["table"]),
            families.named(str(row["row"])),
            _at(row, coordinates),
            _short(row["printed"]),
        ]
        for row in own.to_dict("records")
    ]


def _at(row: dict, coordinates: list[str]) -> str:
    """Return where a number was printed, in words."""
    told = row | {"dataset": datasets.title(str(row.get("dataset")))}
    return ", ".join(f"{name} {_short(told[name])}" for name in coordinates if known(row[name]))


def _line(row: dict, coordinates: list[str]) -> list[str]:
    read_as = f" (read: {row['reading']})" if known(row.get("reading")) else ""
    found = {"ours_low": row["ci_low"], "ours_high": row["ci_high"]} | row
    return [
        str(row["table"]),
        f"{families.named(str(row['row']))}{read_as}",
        _at(row, coordinates),
        _short(row["printed"]),
        families.named(str(row["method"])),
        str(row["compared"]) if known(row.get("compared")) else "",
        claims_table.ours(found) or claims_table.seeds(found),
        f"{row['difference']:+.2f}" if known(row["difference"]) else "",
        str(row["verdict"]),
    ]


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
