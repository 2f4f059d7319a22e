"""Every round has an equal share of the budget, by a theorem that knows a round's epsilon alone.

`basic` adds up the shares; `advanced` is Dwork, Rothblum and Vadhan 2010, with half of delta as its
slack. The noise of a round's steps is calibrated for its share. The certificate prices all rounds
together, so it is below the budget.
"""

from scipy.optimize import brentq

from dpfl.contracts.bounds import bounded
from dpfl.contracts.schedule import Budget, Schedule, Work
from dpfl.privacy import composition, events
from dpfl.privacy.search import noise_multiplier

SETTINGS = {"theorem": "one of basic, advanced"}


@bounded(SETTINGS)
def schedule(work: Work, budget: Budget, *, theorem: str) -> Schedule:
    """Pay all planned steps, each round at the noise of its share.

    Raises UserError for an argument out of range, or if something is released before the steps.
    """
    events.require("released", work.released, not work.released, "empty: shares are of rounds")
    divided = {"basic": basic, "advanced": advanced}[theorem]
    share = divided(budget.epsilon, budget.delta, work.rounds)
    noise = noise_multiplier(work.sample_rate, work.steps_per_round, *share, budget.accountant)
    return Schedule((noise,) * work.rounds, work.steps)


def basic(epsilon: float, delta: float, rounds: int) -> tuple[float, float]:
    """Return a round's (epsilon / T, delta / T)."""
    return epsilon / rounds, delta / rounds


def advanced(epsilon: float, delta: float, rounds: int) -> tuple[float, float]:
    """Return the (epsilon, delta) of a round of which advanced composition makes the whole."""
    own, slack = delta / 2 / rounds, delta / 2

    def excess(share: float) -> float:
        return composition.advanced(share, own, rounds, slack)[0] - epsilon

    return float(brentq(excess, 0, epsilon)), own
