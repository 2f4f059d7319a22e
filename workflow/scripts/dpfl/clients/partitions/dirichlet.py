"""Label skew: every class is spread over the clients in proportions drawn from Dirichlet(alpha).

The class-wise form of Yurochkin et al. (2019, arXiv 1905.12022), in which client sizes vary too;
Hsu et al. (2019, arXiv 1909.06335) draw class proportions per client of a fixed size. A small alpha
gives clients of one class, a large one nears iid.
"""

import numpy as np

from dpfl.contracts.bounds import bounded

SETTINGS = {"alpha": "number > 0"}


@bounded(SETTINGS)
def assign(
    targets: np.ndarray, clients: int, rng: np.random.Generator, *, alpha: float
) -> np.ndarray:
    """Return a client for every example; UserError unless 0 < alpha < infinity."""
    owners = np.empty(len(targets), dtype=np.int64)
    for label in np.unique(targets):
        members = rng.permutation(np.flatnonzero(targets == label))
        proportions = rng.dirichlet(np.full(clients, float(alpha)))
        midpoints = (np.arange(len(members)) + 0.5) / len(members)
        owners[members] = np.searchsorted(np.cumsum(proportions)[:-1], midpoints)
    return owners
