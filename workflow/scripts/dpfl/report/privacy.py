"""What the page of a paper says of privacy: three epsilons of every cell, and why some are none."""

import numpy as np
import pandas as pd

from dpfl.tables import rendering
from dpfl.words.columns import CELLS, plain
from dpfl.words.forms import listed

SHOWN = ("method", "variant", "ε claimed", "ε certified", "certified by", "ε audited")
SHOWN += ("audit level", "audit estimator", "privacy")
"""The columns of cells that are about privacy."""


def private(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with a budget."""
    return cells[np.isfinite(cells["eps_claimed"])]


def table(cells: pd.DataFrame) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines: the three epsilons of every private cell, and the verdict."""
    columns = CELLS | {"variant": plain("variant")}
    return rendering.readable(private(cells), {head: columns[head] for head in SHOWN})


def reasons(cells: pd.DataFrame) -> list[str]:
    """Say once why which methods have no certificate, and what their audits do not see."""
    found = private(cells)
    bare = found[found["eps_certified"].isna()]
    told = ((bare, "reasons", "No proof of"), (found, "audit_blind", "Not seen by an audit of"))
    return [
        f"{head} {listed(own['method'].unique())}: {text.removesuffix('.')}."
        for among, column, head in told
        for text, own in among[among[column] != ""].groupby(column, sort=False)
    ]
