"""Claims that are open because runs that they need did not finish."""

import math
from typing import Any

from dpfl.judging import cells, claims, orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.papers import datasets
from dpfl.tables import results
from dpfl.words.vocabulary import UNFINISHED


def needed(claim: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """Return the unfinished cells that a claim speaks of: of its methods, settings and budgets."""
    found = [cell for cell in evidence.unfinished if _speaks_of(claim, cell, evidence)]
    return [cell for cell in found if not (_private(claim, evidence) and _is_free(cell))]


def row(claim: dict[str, Any], evidence: Evidence, open_cells: list[dict]) -> rows.Row:
    """Return the row of a claim that is open, with the reason."""
    names = "; ".join(results.named(cell) for cell in open_cells)
    first = open_cells[0]
    about = f"not finished: {names}; {first['message']} ({first['log']})"
    return rows.blank(claim, evidence, verdict=UNFINISHED, about=about)


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
