"""Noise on every node of binary trees over the steps: DP-FTRL (Kairouz et al. 2021)."""

import math

import numpy as np

from dpfl.base.errors import UserError
from dpfl.factorizations import Run
from dpfl.factorizations.parts.streams import Tree

SETTINGS = {"restart": "whole >= 0", "complete": "whole in [0, 1]"}


def sensitivity(run: Run, *, restart: int = 0, complete: int = 1) -> float:
    """Return the root of the squared numbers of an example's steps below each node, summed.

    arXiv 2103.00039. A new tree begins every `restart` steps, 0 for never. A tree that a restart
    ends is filled up with empty steps if `complete`; the last one is left as it is. An example's
    steps are in the worst places of each tree. UserError unless trees begin with an epoch.
    """
    size = restart or run.steps
    if size % run.separation and size < run.steps:
        raise UserError(
            f"restart is {restart}, must be a multiple of {run.separation} (separation)"
        )
    squares, left = 0.0, run.participations
    for start in range(0, run.steps, size):
        steps = min(size, run.steps - start)
        taken = min(left, math.ceil(steps / run.separation))
        filled = complete and start + size < run.steps
        squares += max(
            _squares(range(first, steps, run.separation)[:taken], steps, filled)
            for first in range(run.separation)
        )
        left -= taken
    return math.sqrt(squares)


def stream(*, restart: int = 0, complete: int = 1) -> Tree:
    """Return the noise of steps."""
    return Tree(restart, bool(complete))


def _squares(places: range, steps: int, filled: bool) -> float:
    """Return the squared numbers of places below each whole node, summed over the nodes."""
    nodes = np.zeros(1 << math.ceil(math.log2(steps)))
    nodes[list(places)] = 1
    found, size = 0.0, 1
    while True:
        whole = len(nodes) if filled else steps // size
        found += float((nodes[:whole] ** 2).sum())
        if len(nodes) == 1:
            return found
        nodes, size = nodes.reshape(-1, 2).sum(1), 2 * size
