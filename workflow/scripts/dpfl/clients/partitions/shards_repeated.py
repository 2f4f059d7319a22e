"""Label skew by shards, all examples dealt out several times: clients then share examples.

As in the published code of Geyer et al. 2017 (arXiv 1712.07557): with 100, 1,000 or 10,000 clients
of 500 examples each, the same 50,000 are dealt 1, 10 or 100 times. What a client holds is one
release; what an example does is not bounded by it.
"""

import numpy as np

from dpfl.base.errors import UserError
from dpfl.clients.partitions import shards
from dpfl.contracts.bounds import bounded

SETTINGS = {"labels_per_client": "whole >= 1", "copies": "whole >= 1"}
REPEATS = True


@bounded(SETTINGS)
def assign(
    targets: np.ndarray,
    clients: int,
    rng: np.random.Generator,
    *,
    labels_per_client: int,
    copies: int,
) -> np.ndarray:
    """Return a client for every example of every copy [copies, N].

    Raises UserError unless clients are a multiple of copies, and as `shards` does.
    """
    each, left = divmod(clients, copies)
    if left or not each:
        raise UserError(f"clients = {clients}, expected a multiple of the {copies} copies")
    dealt = (
        shards.assign(targets, each, rng, labels_per_client=labels_per_client)
        for _ in range(copies)
    )
    return np.stack([own + number * each for number, own in enumerate(dealt)])
