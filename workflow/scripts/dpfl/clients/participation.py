"""Who takes part in which round, and how many local steps that means; all of it is public."""

from collections.abc import Sequence

import numpy as np

from dpfl.base.errors import UserError


def draw(
    clients: int, per_round: int | None, rounds: int, rng: np.random.Generator
) -> list[np.ndarray]:
    """Return the sorted ids of the clients of each round: everyone, or `per_round` at random.

    The list starts with round 1. Raises UserError unless 1 <= per_round <= clients, rounds >= 1.
    """
    if clients < 1:
        raise UserError(f"clients is {clients}, must be >= 1")
    if rounds < 1:
        raise UserError(f"rounds is {rounds}, must be >= 1")
    chosen = cohort(clients, per_round)
    if per_round is None:
        return [np.arange(clients)] * rounds
    return [np.sort(rng.choice(clients, chosen, replace=False)) for _ in range(rounds)]


def cohort(clients: int, per_round: int | None) -> int:
    """Return how many clients take part in a round, None for all; UserError outside 1..clients."""
    if not 1 <= (found := clients if per_round is None else per_round) <= clients:
        raise UserError(f"clients_per_round is {per_round}, must be in [1, {clients}] (clients)")
    return found


def rounds_of(participation: Sequence[np.ndarray], clients: int) -> list[list[int]]:
    """Return the numbers of the rounds, from 1 on, that each client takes part in."""
    rounds: list[list[int]] = [[] for _ in range(clients)]
    for number, chosen in enumerate(participation, start=1):
        for client in chosen:
            rounds[client].append(number)
    return rounds


def local_steps(
    examples: int,
    batch_size: int,
    local_epochs: float | None = None,
    local_steps: int | None = None,
    client: int | None = None,
) -> int:
    """Return the steps of one round: a number, or epochs of floor(examples / batch_size) steps.

    Raises UserError for a batch larger than the client, and unless exactly one of the two is set.
    """
    if not 1 <= batch_size <= examples:
        where = "" if client is None else f" of client {client}"
        raise UserError(f"batch_size is {batch_size}, must be in [1, {examples}] (examples{where})")
    if (local_epochs is None) == (local_steps is None):
        raise UserError(
            f"local_epochs is {local_epochs} and local_steps is {local_steps}, set exactly one"
        )
    if local_steps is None:
        local_steps = max(
            1, int(_positive("local_epochs", local_epochs) * (examples // batch_size))
        )
    return int(_positive("local_steps", local_steps))


def _positive(name: str, value: float) -> float:
    if not value > 0:
        raise UserError(f"{name} is {value}, must be > 0")
    return value
