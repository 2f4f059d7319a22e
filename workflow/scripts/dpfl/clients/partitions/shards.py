"""Label skew of McMahan et al. (2017, arXiv 1602.05629): sort by label, cut in shards, deal out."""

import numpy as np

from dpfl.base.errors import UserError
from dpfl.contracts.bounds import bounded

SETTINGS = {"labels_per_client": "whole >= 1"}


@bounded(SETTINGS)
def assign(
    targets: np.ndarray, clients: int, rng: np.random.Generator, *, labels_per_client: int
) -> np.ndarray:
    """Return a client for every example: each client gets `labels_per_client` equal shards.

    A shard holds one label, or two where the cut does not fall between labels. Raises UserError
    if there are more shards than examples.
    """
    shards = clients * labels_per_client
    if shards > len(targets):
        raise UserError(
            f"clients x labels_per_client = {clients} x {labels_per_client}: more than the "
            f"{len(targets)} examples"
        )
    shuffled = rng.permutation(len(targets))
    by_label = shuffled[np.argsort(targets[shuffled], kind="stable")]
    dealt = rng.permutation(np.arange(shards) % clients)
    owners = np.empty(len(targets), dtype=np.int64)
    owners[by_label] = dealt[np.arange(len(targets)) * shards // len(targets)]
    return owners
