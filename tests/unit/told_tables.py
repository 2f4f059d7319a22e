"""Tables as pages read them, for the tests of sentences."""

import math

import numpy as np
import pandas as pd
from synthetic import cell, study

from dpfl.tables import study_table

INF = math.inf


def cells_of(*rows: dict) -> pd.DataFrame:
    """Return a table of cells; what a row leaves out is an ordinary private cell."""
    usual = {
        "study": "main",
        "dataset": "mnist",
        "method": "sgd",
        "certified": True,
        "variant": "",
        "epsilon": 2.0,
        "delta": 1e-5,
        "n": 5,
        "accuracy_mean": 95.0,
        "ci_low": 94.8,
        "ci_high": 95.2,
        "sd": 0.1,
        "diverged": 0,
        "eps_claimed": 2.0,
        "eps_certified": 1.99,
        "eps_audited": np.nan,
        "audit_ceiling": np.nan,
        "audit_level": np.nan,
        "audit_estimator": "",
        "audit_status": "not audited",
        "audit_broken": "",
        "audit_blind": "",
        "privacy": "consistent",
        "privacy_reasons": "",
        "reasons": "",
        "unit": "example",
        "adjacency": "add-or-remove-one",
        "accountant": "pld",
        "noise": "seeded",
        "rate": "lr=0.1",
        "r": np.nan,
        "regime": "",
        "clipped_below": np.nan,
        "clipped_above": np.nan,
    }
    filled = [usual | {"label": r.get("method", "sgd"), "trained": r.get("n", 5)} | r for r in rows]
    settings = dict.fromkeys(key for row in rows for key in row if key not in study_table.COLUMNS)
    return pd.DataFrame(filled, columns=[*study_table.COLUMNS, *settings])


def main(dataset: str = "mnist", **extra) -> dict:
    return study([cell("sgd", 2.0, 2)], dataset=dataset, **extra)
