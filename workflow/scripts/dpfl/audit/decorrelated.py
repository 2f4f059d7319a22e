"""Noise that is correlated from step to step, taken apart into the fresh draws that it is made of.

Steps release X + B Z, of fresh draws Z and known rows B. With L L' = B B' that tells as much as
L^-1 X + Z', Z' independent. A canary is in or out of step t by a fair coin. Once the coins of
earlier steps are taken off, it shows as the diagonal of L^-1. That is 1 where a step has a draw of
its own.
"""

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from dpfl.audit.canaries import SILENT, Canaries, tally

MadeOf = Callable[[int], np.ndarray]
SAME = 1e-6  # the rounding of a diagonal


@lru_cache(maxsize=2)
def whitening(made_of: MadeOf, steps: int) -> np.ndarray:
    """Return L^-1 [T, T] of the rows B [T, n] of so many steps."""
    rows = made_of(steps)
    root = cholesky(rows @ rows.T, lower=True)
    return solve_triangular(root, np.eye(len(root)), lower=True)


@cache
def of_draws(weights: tuple[float, ...]) -> MadeOf:
    """Return the rows of a noise that is so much of its own draw, the draw before, and so on."""
    return lambda steps: sum(c * np.eye(steps, k=-lag) for lag, c in enumerate(weights))


def silent(own: Canaries) -> np.ndarray:
    """Return the independent noise of a holder's steps [T, SILENT]."""
    rows = np.array(own.noise, dtype=float).reshape(-1, own.width)[:, -SILENT:]
    return rows if own.made_of is None else whitening(own.made_of, len(rows)) @ rows


def tallies(own: Canaries) -> dict[float, list[int]]:
    """Return what the tossed canaries show of a run whose steps have one noise multiplier."""
    rows = np.array(own.noise, dtype=float)[:, : own.tossed]
    inverse = whitening(own.made_of, len(rows))
    coins = np.array(list(map(own.coins, range(len(rows)))))
    shift = np.diag(inverse)
    alone = inverse @ rows - (inverse - np.diag(shift)) @ coins
    whole = shift > 1 - SAME  # the others have more noise of their own
    ((noise_multiplier, (steps, *_)),) = own.tallies.items()
    return {noise_multiplier: [steps, *tally(alone[whole].ravel(), coins[whole].ravel())]}
