"""Whom the epsilons of judged claims protect: one example of a client, or a whole client."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pandas as pd

from dpfl.report import values

UNIT = "unit"


def of_claims(claims: pd.DataFrame, tables: Path) -> pd.DataFrame:
    """Return judged claims with a column `unit`, that of the cells of a claim's study.

    A study protects one unit; it is "" where a claim has no study, or this scale does not run it.
    """
    return claims.assign(**{UNIT: [_of_study(tables / f"{own}.csv") for own in claims["study"]]})


def level(row: Mapping) -> str:
    """Return what is said after an epsilon that protects a client; an example goes unsaid."""
    return ", client-level" if row.get(UNIT) == "client" else ""


@cache
def _of_study(path: Path) -> str:
    table = values.read(path) if path.is_file() else pd.DataFrame()
    return next(iter(table[UNIT]), "") if UNIT in table else ""
