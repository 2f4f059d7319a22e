"""Three epsilons side by side, each a chip: claimed, certified, audited; and whom they protect."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from dpfl.report import values
from dpfl.words import cell_words
from dpfl.words.numerals import known, number, rounded_up

UNIT = "unit"


@dataclass(frozen=True)
class Chip:
    """One epsilon: what it is, its value, and whether that is good, bad or open."""

    name: str
    value: str
    tone: str


def of(row: Mapping) -> tuple[Chip, ...]:
    """Return the three chips of a judged claim or of a cell, none where nothing is private.

    An epsilon that protects a client says so; an example goes unsaid.
    """
    if not known(row["eps_claimed"]) or math.isinf(row["eps_claimed"]):
        return ()
    level = ", client-level" if row.get(UNIT) == "client" else ""
    refuted = "refuted" in str(row["privacy"])
    audited = cell_words.audited(row) + ", refuted" * refuted
    return (
        Chip("claimed", number(row["eps_claimed"], "{:g}") + level, "open"),
        _certified(row),
        Chip("audited", audited, "bad" if refuted else "open"),
    )


def certified(row: Mapping) -> str:
    """Return `yes` or `no`, or nothing of a row without an epsilon."""
    if not of(row):
        return ""
    return "yes" if known(row["eps_certified"]) else "no"


def text(found: Iterable[Chip]) -> str:
    """Return the values of chips in one line: `8 / ≤ 8 / ≥ 7.97`."""
    return " / ".join(chip.value for chip in found)


def with_units(claims: pd.DataFrame, tables: Path) -> pd.DataFrame:
    """Return judged claims with a column `unit`, that of the cells of a claim's study.

    A study protects one unit; it is "" where a claim has no study, or this scale does not run it.
    """
    return claims.assign(**{UNIT: [_unit(tables / f"{own}.csv") for own in claims["study"]]})


def _certified(row: Mapping) -> Chip:
    if not known(row["eps_certified"]):
        return Chip("certified", "no proof", "bad")
    return Chip("certified", f"≤ {rounded_up(float(row['eps_certified']))}", "good")


@cache
def _unit(path: Path) -> str:
    table = values.read(path) if path.is_file() else pd.DataFrame()
    return next(iter(table[UNIT]), "") if UNIT in table else ""
