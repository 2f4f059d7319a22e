"""Natural clients: every client holds all examples of its owners, as the data set names them.

Such as the writers of LEAF (Caldas et al. 2018, arXiv 1812.01097). No owner is divided. With as
many clients as owners each client is one owner. With fewer, several owners share a client.
"""

import numpy as np

from dpfl.base.errors import UserError

DIVIDES = "owners"  # what `assign` is given, for the targets that other schemes divide


def assign(owners: np.ndarray, clients: int, rng: np.random.Generator) -> np.ndarray:
    """Return a client for every example: the owners are dealt out at random, equally up to one.

    Raises UserError if there are more clients than owners.
    """
    found, numbers = np.unique(owners, return_inverse=True)
    if clients > len(found):
        raise UserError(
            f"clients = {clients}: must lie in 1..{len(found)}, the natural clients that are left"
        )
    return rng.permutation(np.arange(len(found)) % clients)[numbers]
