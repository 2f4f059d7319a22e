"""Early rounds spend more: their updates are large (non-uniform allocation, composition-text)."""

from dpfl.contracts.bounds import bounded
from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy.budgets._weighted import falling, weighted

SETTINGS = {
    "shape": "one of geometric, linear",
    "ratio": "number in [1, 1000000]",
}


@bounded(SETTINGS)
def schedule(work: Work, budget: Budget, *, shape: str, ratio: float) -> Schedule:
    """Let 1/z^2 fall from its first to its last round by `ratio`, geometrically or linearly.

    Raises UserError for an argument out of range.
    """
    return weighted(work, budget, falling(shape, ratio, work.rounds))
