"""Judges a claim by its kind."""

from typing import Any

import pandas as pd

from dpfl import plugins
from dpfl.judging import cells, rows, unfinished
from dpfl.judging.evidence import Evidence
from dpfl.tables import results
from dpfl.words.vocabulary import DEMONSTRATION, NOT_JUDGED, NOT_RUN, UNFINISHED


def judge(claim: dict[str, Any], evidence: Evidence) -> pd.DataFrame:
    """Return one row per part of a claim, the claim as a whole (`overall`) first.

    A claim that is not judged, whose study this scale does not run, or which needs what is not
    finished, or not kept, has one row that says so; what a study that only demonstrates has run is
    judged by nothing.
    """
    if "status" in claim:
        return rows.table([rows.blank(claim, evidence, verdict=NOT_JUDGED)])
    if open_cells := unfinished.needed(claim, evidence):
        return rows.table([unfinished.row(claim, evidence, open_cells)])
    if evidence.study is None and not evidence.tables:
        return rows.table(
            [rows.blank(claim, evidence, verdict=NOT_RUN, **_printed(claim, evidence))]
        )
    try:
        judged = rows.table(plugins.load("judging/kinds", claim["kind"]).judge(claim, evidence))
    except results.NotKeptError as error:
        about = f"not kept: {error}"
        return rows.table([rows.blank(claim, evidence, verdict=UNFINISHED, about=about)])
    if (evidence.study or {}).get("demonstrates", False):
        judged["verdict"] = judged["verdict"].where(judged["verdict"] == NOT_RUN, DEMONSTRATION)
    return judged


def _printed(claim: dict[str, Any], evidence: Evidence) -> dict[str, float]:
    """Return the number that a claim is on, if it is on one."""
    if "row" not in claim:
        return {}
    place = {key: claim[key] for key in ("table", "row")} | claim.get("cells", {})
    values = cells.chosen(claim, evidence.printed, place)["printed"].unique()
    return {"printed": float(values[0])} if len(values) == 1 else {}
