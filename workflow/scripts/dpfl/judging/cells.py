"""Which runs of a study a claim speaks of."""

import math
from typing import Any

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.judging.evidence import Evidence
from dpfl.papers import datasets, published
from dpfl.tables import results


def runs(claim: dict, evidence: Evidence) -> pd.DataFrame:
    """Return the runs of the study in the claim's `cells`.

    These are settings of the study; `dataset` is the data set that it is about, so that a claim on
    another one has no runs.
    """
    table = evidence.runs
    if "dataset" not in table:
        table = table.assign(dataset=datasets.base(evidence.study["dataset"]))
    return chosen(claim, table, claim.get("cells", {}))


def chosen(claim: dict, table: pd.DataFrame, where: dict[str, Any]) -> pd.DataFrame:
    """Return the rows that have the values of some columns; UserError for an unknown column."""
    for key, wanted in where.items():
        if key not in table:
            raise UserError(f"claim {claim['id']}: {key!r} is no setting or coordinate here")
        table = having(table, key, wanted)
    return table


def having(table: pd.DataFrame, key: str, wanted: object) -> pd.DataFrame:
    """Return the rows that have a value in a column."""
    return table[np.array([same(value, wanted) for value in table[key]], dtype=bool)]


def same(value: object, wanted: object) -> bool:
    """Tell whether two settings are one: 1, 1.0 and "1" are; a list holds those wanted."""
    if isinstance(wanted, list | tuple):
        return any(same(value, one) for one in wanted)
    numbers = published.number(str(value)), published.number(str(wanted))
    return str(value) == str(wanted) or math.isclose(*numbers, rel_tol=1e-9)


def epsilons(claim: dict, *sides: pd.DataFrame) -> list[float]:
    """Return at which epsilons a claim is judged: those it names, or all finite ones of any side.

    Without a finite one, what it says is judged without privacy.
    """
    if "epsilons" in claim:
        return sorted({results.number(value) for value in claim["epsilons"]})
    found = sorted({float(e) for side in sides for e in side["epsilon"]})
    return [e for e in found if np.isfinite(e)] or found


def shown(epsilon: float) -> str:
    """Return an epsilon as the name of a part has it."""
    return "without privacy" if np.isinf(epsilon) else f"epsilon {epsilon:g}"
