"""Claims that are open because runs that they need did not finish."""

from typing import Any

from dpfl import claims
from dpfl.claims import Evidence
from dpfl.judging import cells, rows
from dpfl.tables import results
from dpfl.tables.vocabulary import UNFINISHED


def needed(claim: dict[str, Any], evidence: Evidence) -> list[dict[str, Any]]:
    """Return the unfinished cells that a claim speaks of: of its methods, settings and budgets."""
    return [cell for cell in evidence.unfinished if _speaks_of(claim, cell)]


def row(claim: dict[str, Any], evidence: Evidence, open_cells: list[dict]) -> rows.Row:
    """Return the row of a claim that is open, with the reason."""
    names = "; ".join(results.named(cell) for cell in open_cells)
    first = open_cells[0]
    about = f"not finished: {names}; {first['message']} ({first['log']})"
    return rows.blank(claim, evidence, verdict=UNFINISHED, about=about)


def _speaks_of(claim: dict[str, Any], cell: dict[str, Any]) -> bool:
    """Tell whether a cell is one of a claim's; a setting that the cell lacks excludes nothing."""
    own = {**cell["variant"], "method": cell["method"], "epsilon": results.number(cell["epsilon"])}
    named = claims.methods(claim) if "of" not in claim else []
    wanted = {
        **claim.get("cells", {}),
        **({"method": named} if named else {}),
        **({"epsilon": claim["epsilons"]} if "epsilons" in claim else {}),
    }
    return all(cells.same(own[key], value) for key, value in wanted.items() if key in own)
