"""The rows of a judged claim: what every kind fills in alike."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from dpfl.judging.claims import COLUMNS
from dpfl.judging.evidence import Evidence
from dpfl.seeds import audits, conjunction, outcomes, verdicts
from dpfl.tables.results import declared
from dpfl.words.vocabulary import verdict_of

Row = dict[str, Any]
EMPTY = {name: np.nan if kind == "number" else "" for name, (kind, _) in declared("claims").items()}
DIFFERENCE = ("n", "difference", "difference_low", "difference_high")


def table(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a table with the columns of a claim."""
    return pd.DataFrame(list(rows), columns=COLUMNS)


def blank(claim: dict, evidence: Evidence, part: str = "overall", **values: Any) -> Row:
    """Return a row with everything that is known of it; KeyError for a column there is not."""
    unknown = values.keys() - set(COLUMNS)
    if unknown:
        raise KeyError(f"no columns {unknown} in a judged claim")
    head = {
        "paper": evidence.paper,
        "claim": claim["id"],
        "kind": claim.get("kind", ""),
        "part": part,
        "study": claim.get("study") or claim.get("analysis") or "",
    }
    return EMPTY | head | values


def whole(
    claim: dict, evidence: Evidence, about: str, noun: str, parts: list[Row], sides: list
) -> Row:
    """Return the row of several printed numbers, the rows `parts`, beside the runs of `sides`."""
    found = [*map(verdict_of, parts)]
    compared = dict.fromkeys(part["compared"] for part in parts if part["compared"])
    return blank(
        claim,
        evidence,
        about=f"{about}: {conjunction.counted(found, noun)}",
        n=min((part["n"] for part in parts), default=np.nan),
        compared="; ".join(compared),
        **conjunction.matching(found)._asdict(),
        **of_runs(*sides),
    )


def of_runs(*sides: pd.DataFrame) -> Row:
    """Return what some runs have in common: their names, failures, three epsilons and the audit.

    The epsilons are those of the cell that is worst off, so that they fit the verdict on privacy.
    Of several that are refuted it claims least, beside what its attack found.
    """
    used = [side for side in sides if len(side)]
    if not used:
        return {"runs": "", "failed": 0}
    runs = pd.concat(used).drop_duplicates(["cell", "run"])
    failed = len(runs) - len(outcomes.of_trained(runs))
    each = [audits.of_cell(own) for _, own in runs.groupby("cell", sort=False)]
    worst = min(each, key=_worst_first)
    return {"runs": " ".join(dict.fromkeys(runs["run"])), "failed": failed, **worst}


def _worst_first(cell: Row) -> tuple[float, ...]:
    claimed, audited = cell["eps_claimed"], cell["eps_audited"]
    beaten_by = audited / claimed if audited > claimed else 0.0
    return verdicts.PRIVACY.index(cell["privacy"]), -beaten_by, -claimed


def interval(name: str, measured: verdicts.Interval) -> Row:
    """Return the columns of an interval: of a `difference`, or of `ours`, our own value."""
    ends = {f"{name}_low": measured.low, f"{name}_high": measured.high}
    return {"n": measured.n, name: measured.mean} | ends
