"""What the page of a paper says of privacy: why there is no proof, what no audit sees."""

import numpy as np
import pandas as pd

from dpfl.words.forms import listed


def private(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with a budget."""
    return cells[np.isfinite(cells["eps_claimed"])]


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
