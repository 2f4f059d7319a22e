"""What a paper printed beside what was found: one line per printed number."""

import pandas as pd

from dpfl.figures import datasets, families
from dpfl.judging.published import FIXED
from dpfl.report import claims_table
from dpfl.words.numerals import known

HEADS = ["table", "row", "at", "printed", "method", "compared", "ours", "difference", "verdict"]


def lines(published: pd.DataFrame) -> list[list[str]]:
    """Return the lines of some printed numbers, under HEADS."""
    coordinates = [name for name in published.columns if name not in FIXED]
    return [_line(row, coordinates) for row in published.to_dict("records")]


def _line(row: dict, coordinates: list[str]) -> list[str]:
    read_as = f" (read: {row['reading']})" if known(row.get("reading")) else ""
    found = {"ours_low": row["ci_low"], "ours_high": row["ci_high"]} | row
    told = row | {"dataset": datasets.title(str(row.get("dataset")))}
    places = [f"{name} {_short(told[name])}" for name in coordinates if known(row[name])]
    return [
        str(row["table"]),
        f"{families.named(str(row['row']))}{read_as}",
        ", ".join(places),
        _short(row["printed"]),
        families.named(str(row["method"])),
        str(row["compared"]) if known(row.get("compared")) else "",
        claims_table.ours(found) or claims_table.seeds(found),
        f"{row['difference']:+.2f}" if known(row["difference"]) else "",
        str(row["verdict"]),
    ]


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
