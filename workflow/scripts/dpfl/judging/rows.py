"""The rows of a judged claim: what every kind fills in alike."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from dpfl.judging.claims import COLUMNS
from dpfl.judging.evidence import Evidence
from dpfl.seeds import audits, outcomes, verdicts

Row = dict[str, Any]
TEXTS = frozenset(
    {
        *("paper", "claim", "kind", "part", "about", "study", "verdict", "privacy"),
        *("privacy_reasons", "audit_estimator", "audit_status", "weak_baseline", "runs"),
        *("compared", "tuning"),
    }
)
DIFFERENCE = ("n", "difference", "difference_low", "difference_high")


def table(rows: Iterable[Row]) -> pd.DataFrame:
    """Return rows as a table with the columns of a claim."""
    return pd.DataFrame(list(rows), columns=COLUMNS)


def blank(claim: dict, evidence: Evidence, part: str = "overall", **values: Any) -> Row:
    """Return a row with everything that is known of it; KeyError for a column there is not."""
    unknown = values.keys() - set(COLUMNS)
    if unknown:
        raise KeyError(f"no columns {unknown} in a judged claim")
    empty = {name: "" if name in TEXTS else np.nan for name in COLUMNS}
    head = {
        "paper": evidence.paper,
        "claim": claim["id"],
        "kind": claim.get("kind", ""),
        "part": part,
        "study": claim.get("study") or claim.get("analysis") or "",
    }
    return empty | head | values


def of_runs(*sides: pd.DataFrame) -> Row:
    """Return what some runs have in common: their names, failures, three epsilons and the audit.

    The epsilons are those of the cell that is worst off, so that they fit the verdict on privacy.
    """
    used = [side for side in sides if len(side)]
    if not used:
        return {"runs": "", "failed": 0}
    runs = pd.concat(used).drop_duplicates(["cell", "run"])
    failed = len(runs) - len(outcomes.of_trained(runs))
    return {"runs": " ".join(dict.fromkeys(runs["run"])), "failed": failed, **_privacy(runs)}


def difference(measured: verdicts.Interval) -> Row:
    """Return the columns of an interval of differences."""
    return {
        "n": measured.n,
        "difference": measured.mean,
        "difference_low": measured.low,
        "difference_high": measured.high,
    }


def ours(measured: verdicts.Interval) -> Row:
    """Return the columns of an interval of our own value."""
    return {
        "n": measured.n,
        "ours": measured.mean,
        "ours_low": measured.low,
        "ours_high": measured.high,
    }


def _privacy(runs: pd.DataFrame) -> Row:
    cells = [audits.of_cell(own) for _, own in runs.groupby("cell", sort=False)]
    return min(cells, key=lambda c: (verdicts.PRIVACY.index(c["privacy"]), -c["eps_claimed"]))
