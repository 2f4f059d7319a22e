"""What the audits of a cell's seeds say together, and the verdict on its epsilon.

A run's audit gives a lower bound of epsilon that holds at its level, .01 by default. The largest of
n such bounds holds at n times that level: any one may be wrong (union bound). So five seeds give
the usual .05.
"""

from collections.abc import Iterable
from typing import Any

import pandas as pd

from dpfl.seeds import verdicts
from dpfl.words.vocabulary import BEATEN

NOT_AUDITED = "not audited"
STATUSES = ("broken", "blind", "audited", NOT_AUDITED)
"""The worst first: a check of noise or sampling failed; the audit does not see all that is
released; it ran; it did not."""

JUDGED = ("eps_claimed", "eps_certified", "eps_audit_lb", "audit_broken")
"""What the verdict on the epsilon of a run rests on."""


def of_cell(runs: pd.DataFrame) -> dict[str, Any]:
    """Return the three epsilons of a cell, what its audits are worth, and the verdict with reasons.

    Every run is judged by its own certificate, and the worst verdict is the cell's. So an audit
    above the certificate of its run cannot hide behind another seed's larger one.
    """
    own = runs.drop_duplicates("run")
    levels = own.loc[own["eps_audit_lb"].notna(), "audit_level"]
    comparable = own.get("comparable", pd.Series(True, own.index))
    judged = verdicts.worst(map(verdicts.privacy, *(own[key] for key in JUDGED), comparable))
    return {
        "eps_claimed": own["eps_claimed"].max(),
        "eps_certified": own["eps_certified"].astype(float).max(skipna=False),
        "eps_audited": own["eps_audit_lb"].max(),
        "audit_ceiling": own["audit_ceiling"].max(),
        "audit_level": len(levels) * levels.max(),
        "audit_estimator": "; ".join(_distinct(filter(None, own["audit_estimator"]))),
        "audit_status": "; ".join(sorted(set(own["audit_status"]), key=STATUSES.index)),
        "privacy": judged.verdict,
        "privacy_reasons": "; ".join(judged.reasons),
    }


def remarks(runs: pd.DataFrame) -> dict[str, str]:
    """Return which checks failed in a cell's runs, and what their audits do not see."""
    return {key: "; ".join(_distinct(runs[key].sum())) for key in ("audit_broken", "audit_blind")}


def refuted(runs: pd.DataFrame) -> pd.Series:
    """Tell for each run whether the claim or the certificate of some run of its cell is refuted."""
    found = {cell: of_cell(own)["privacy"] in BEATEN for cell, own in runs.groupby("cell")}
    return runs["cell"].map(found).astype(bool)


def _distinct(texts: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(texts))
