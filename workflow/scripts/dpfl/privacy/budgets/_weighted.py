"""Budgets whose rounds cost unequal shares, fixed in advance: weights on 1/z^2."""

from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy.search import affordable_steps, noise_multipliers


def falling(shape: str, ratio: float, rounds: int) -> tuple[float, ...]:
    """Return weights [rounds] from `ratio` down to 1, by equal factors or by equal steps."""
    done = [t / max(1, rounds - 1) for t in range(rounds)]
    shapes = {
        "geometric": [ratio ** (1 - x) for x in done],
        "linear": [ratio - (ratio - 1) * x for x in done],
    }
    return tuple(shapes[shape])


def weighted(work: Work, budget: Budget, weights: tuple[float, ...]) -> Schedule:
    """Scale z_t = z / sqrt(w_t) so that all planned steps cost at most epsilon."""
    noise = noise_multipliers(work, weights, budget)
    segments = [(z, work.steps_per_round) for z in noise]
    return Schedule(noise, affordable_steps(work, segments, budget))
