"""Printed privacy losses against the prices that an analysis finds for the same releases.

A price is computed: there are no seeds and no interval. Per printed number and reading the
analysis says whether its price is the printed one as printed, rounded alike:

    matches                   the price is the printed loss
    differs                   it is not
    open: needs runs of it    the analysis prices no such loss

Under one reading of the paper a claim matches if all of its printed losses do, and differs if one
does. The claim as a whole `matches` if it does under one reading, else it `differs`. It is open if
a price is missing and none differs. Nothing is trained: there is no verdict on privacy.
"""

from typing import Any

import numpy as np
import pandas as pd

from dpfl.judging import printed, rows
from dpfl.judging.evidence import Evidence
from dpfl.words.numerals import known, text
from dpfl.words.vocabulary import DIFFERS, MATCHES, NOT_RUN, verdict_of

REQUIRED = ("analysis", "table")
OPTIONAL = ("rows", "cells")
LISTS = ("rows",)
EXAMPLE = {"analysis": "prices", "table": "table 2"}

_WEAKEST_FIRST = (DIFFERS, NOT_RUN, MATCHES)


def drawn() -> None:
    """Return nothing: privacy losses have no place on a scale of points."""


def unit() -> str:
    """Return the unit of differences: a privacy loss has none."""
    return ""


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the whole first; readings stand above their numbers."""
    found = _printed(claim, evidence)
    missing = found[~_priced(claim, found)]
    readings = list(dict.fromkeys(found.loc[_priced(claim, found), "reading"])) or [""]
    told, words = [], []
    for reading in readings:
        own = found[_priced(claim, found) & (found["reading"] == reading)]
        parts = [_part(claim, evidence, found, line) for line in own.to_dict("records")]
        parts += [_part(claim, evidence, found, line) for line in missing.to_dict("records")]
        told += [_sum(claim, evidence, reading, reading, parts)] * (len(readings) > 1) + parts
        words.append(_sum(claim, evidence, "overall", reading, parts))
    return [max(words, key=lambda row: _WEAKEST_FIRST.index(verdict_of(row))), *told]


def _printed(claim: dict, evidence: Evidence) -> pd.DataFrame:
    """Return the printed losses, a row for each and for each of its prices."""
    wanted = {"table": claim["table"]} | ({"row": claim["rows"]} if "rows" in claim else {})
    found = printed.lines(claim, evidence, wanted | claim.get("cells", {}))
    own, keys = _priced(claim, found), ["row", "metric", *printed.coordinates(found)]
    kept = found[own | printed.unmatched(found, own, keys)]
    return kept.assign(reading=kept["reading"].fillna(""))


def _priced(claim: dict, found: pd.DataFrame) -> pd.Series:
    return found["study"] == claim["analysis"]


def _part(claim: dict, evidence: Evidence, found: pd.DataFrame, line: dict) -> rows.Row:
    """Return the row of one printed loss beside one price."""
    several = [key for key in printed.coordinates(found) if found[key].nunique() > 1]
    named = [line["row"]] * (found["row"].nunique() > 1)
    place = [f"{key} {text(line[key])}" for key in several if known(line[key])]
    reading = [line["reading"]] * bool(line["reading"])
    priced = line["study"] == claim["analysis"]
    return rows.blank(
        claim,
        evidence,
        ", ".join([*named, *place, *reading]) or line["row"],
        about=", ".join([claim["table"], line["row"], *place, *reading]),
        epsilon=float(line.get("epsilon", np.nan)),
        printed=float(line["printed"]),
        ours=float(line["ours"]) if priced else np.nan,
        difference=float(line["ours"]) - float(line["printed"]) if priced else np.nan,
        **(verdict_of(line) if priced else NOT_RUN)._asdict(),
    )


def _sum(claim: dict, evidence: Evidence, name: str, reading: str, parts: list) -> rows.Row:
    """Return the row of all losses under one reading."""
    found = [*map(verdict_of, parts)]
    place = ", ".join([claim["table"], *claim.get("rows", []), *[reading] * bool(reading)])
    return rows.blank(
        claim,
        evidence,
        name,
        about=place,
        compared=f"{found.count(MATCHES)} of {len(found)} losses match",
        **next(word for word in _WEAKEST_FIRST if word in found)._asdict(),
    )
