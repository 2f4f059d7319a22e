"""Judges a claim by its kind, unless it is open: what that needs did not finish, or is not kept."""

import math
from typing import Any

import pandas as pd

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.judging import cells, claims, orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.papers import datasets
from dpfl.seeds import looks
from dpfl.tables import results
from dpfl.words import vocabulary as words


def judge(claim: dict[str, Any], evidence: Evidence) -> pd.DataFrame:
    """Return one row per part of a claim, the claim as a whole (`overall`) first.

    A claim that is not judged, whose study this scale does not run, or which needs what is not
    finished, or not kept, has one row that says so; what a study that only demonstrates has run is
    judged by nothing. UserError for a kind whose verdict names no runs: its privacy is unknown.
    """

    def alone(verdict: words.Verdict, **known: Any) -> pd.DataFrame:
        return rows.table([rows.blank(claim, evidence, **verdict._asdict(), **known)])

    if "status" in claim:
        return alone(words.NOT_JUDGED)
    if found := unfinished(claim, evidence):
        names = "; ".join(results.named(cell) for cell in found)
        why = f"{found[0]['message']} ({found[0]['log']})"
        return alone(words.UNFINISHED, about=f"not finished: {names}; {why}")
    if evidence.study is None and not evidence.tables:
        return alone(words.NOT_RUN, **_printed(claim, evidence))
    try:
        judged = rows.table(at_looks(claim, evidence))
    except results.NotKeptError as error:
        return alone(words.NOT_KEPT, about=str(error))
    if "study" in claim and words.decides(judged.iloc[0]) and not judged["runs"][0]:
        raise UserError(f"kind {claim['kind']}: no runs in its first row, expected rows.of_runs")
    if (evidence.study or {}).get("demonstrates", False):
        ran = judged["needs"] != words.NOT_RUN.needs
        judged.loc[ran, ["verdict", "needs"]] = [*words.DEMONSTRATION]
    return judged


def at_looks(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of a claim at the first look that decides it, or else at the last."""
    kind = plugins.load("judging/kinds", claim["kind"])
    taken = (kind.judge(claim, seen) for seen in claims.seen(claim["kind"], evidence))
    return looks.first(taken, lambda found: words.decides(found[0]))


def _printed(claim: dict[str, Any], evidence: Evidence) -> dict[str, float]:
    """Return the number that a claim is on, if it is on one."""
    if "row" not in claim:
        return {}
    place = {key: claim[key] for key in ("table", "row")} | claim.get("cells", {})
    values = cells.chosen(claim, evidence.printed, place)["printed"].unique()
    return {"printed": float(values[0])} if len(values) == 1 else {}


def unfinished(claim: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """Return the unfinished cells that a claim speaks of: of its methods, settings and budgets."""
    found = [cell for cell in evidence.unfinished if _speaks_of(claim, cell, evidence)]
    return [cell for cell in found if not (_private(claim, evidence) and _is_free(cell))]


def _private(claim: dict[str, Any], evidence: Evidence) -> bool:
    """Tell whether a claim, as `cells.epsilons` has it, is judged at finite epsilons alone."""
    planned = [*(evidence.study or {}).get("cells", ()), *evidence.unfinished]
    own = [cell for cell in planned if _speaks_of(claim, cell, evidence)]
    return not {"epsilons", "table"} & {*claim} and not all(map(_is_free, own))


def _is_free(cell: dict[str, Any]) -> bool:
    """Tell whether a cell is without privacy."""
    return math.isinf(results.number(cell["epsilon"]))


def _speaks_of(claim: dict[str, Any], cell: dict[str, Any], evidence: Evidence) -> bool:
    """Tell whether a cell is one of a claim's; a setting that the cell lacks excludes nothing."""
    own = {**cell["variant"], "method": cell["method"], "epsilon": results.number(cell["epsilon"])}
    if evidence.study:
        own["dataset"] = datasets.base(evidence.study["dataset"])
    named = claims.methods(claim)
    wanted = {
        **claim.get("cells", {}),
        **({claim.get("of", orderings.METHOD): named} if named else {}),
        **({"epsilon": claim["epsilons"]} if "epsilons" in claim else {}),
    }
    return all(cells.same(own[key], value) for key, value in wanted.items() if key in own)
