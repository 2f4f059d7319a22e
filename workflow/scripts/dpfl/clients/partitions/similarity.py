"""Label skew of Karimireddy et al. (2020, arXiv 1910.06378): a share iid, the rest by label.

Each client gets `similarity` of its examples at random from all of them. The others are sorted by
label and cut into one piece a client. At 0 a client has one label or a few, at 1 it is iid.
"""

import numpy as np

from dpfl.contracts.bounds import bounded

SETTINGS = {"similarity": "number in [0, 1]"}


@bounded(SETTINGS)
def assign(
    targets: np.ndarray, clients: int, rng: np.random.Generator, *, similarity: float
) -> np.ndarray:
    """Return a client for every example; sizes are equal up to two."""
    order = rng.permutation(len(targets))
    alike = round(similarity * len(targets))
    rest = order[alike:]
    by_label = rest[np.argsort(targets[rest], kind="stable")]
    owners = np.empty(len(targets), dtype=np.int64)
    owners[order[:alike]] = rng.permutation(np.arange(alike) % clients)
    owners[by_label] = rng.permutation(clients)[np.arange(len(rest)) * clients // max(len(rest), 1)]
    return owners
