"""The per-step audit: the noise that a run's steps had, by their errors, composed over the run.

It assumes that a step's release is a Gaussian mechanism of some noise multiplier. It assumes that a
run costs what such releases cost, by a price for how its batches are drawn. Each tossed canary is
in or out of every step by a fair coin of its own, with independent noise. It does not see what ties
steps together (repeated noise or batches): `dpfl.audit.checks` does. Nasr et al. 2023 (arXiv
2302.07956), with a threshold fixed beforehand.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from scipy.special import ndtr, ndtri
from scipy.stats import beta

from dpfl.privacy import events
from dpfl.privacy.accountants import pld

FEW = 500
"""Steps whose epsilon on the coarser grid of drafts is within 1e-4 of that of a certificate."""
Price = Callable[[Sequence[tuple[float, int]]], float]
"""Returns the epsilon of noise multipliers, each with its number of steps."""


@dataclass(frozen=True)
class Tally:
    """The coins tossed at `steps` steps of one stated noise, and the errors in telling them.

    A canary is told in where its noisy coordinate is above half of its shift, which is likelihood
    ratio 1. `misses` of the `ins` were below, `false_alarms` of the `outs` above. Raises UserError
    for more errors than coins.
    """

    noise_multiplier: float
    steps: int
    ins: int
    misses: int
    outs: int
    false_alarms: int

    def __post_init__(self) -> None:
        events.require("noise_multiplier", self.noise_multiplier, self.noise_multiplier > 0, "> 0")
        events.require("misses", self.misses, 0 <= self.misses <= self.ins, f"in [0, {self.ins}]")
        within = 0 <= self.false_alarms <= self.outs
        events.require("false_alarms", self.false_alarms, within, f"in [0, {self.outs}]")


def poisson(sample_rate: float, delta: float) -> Price:
    """Return the PLD price at delta of Poisson batches, add or remove one example.

    It rounds as a certificate does, up to FEW steps as its draft. So a bound exceeds a certificate
    only where a `least_shift` exceeds the stated 1 / noise_multiplier. Raises UserError for an
    argument out of range.
    """
    events.require("sample_rate", sample_rate, 0 < sample_rate <= 1, "in (0, 1]")

    def price(noises: Sequence[tuple[float, int]]) -> float:
        few = sum(steps for _, steps in noises) <= FEW
        return pld.epsilon(events.varying(sample_rate, noises), delta, draft=few)

    return price


def lower_bound(tallies: Sequence[Tally], price: Price, level: float) -> float:
    """Return the epsilon that the steps cost at least, but with chance `level`.

    Each tally's level is `level` over their number. Raises UserError for a level out of range.
    """
    events.require("level", level, 0 < level < 1, "in (0, 1)")
    shifts = [(least_shift(tally, level / len(tallies)), tally.steps) for tally in tallies]
    noises = [(1 / shift, steps) for shift, steps in shifts if shift > 0]
    return price(noises) if noises else 0.0


def ceiling(tallies: Sequence[Tally], price: Price, level: float) -> float:
    """Return the bound on exact Gaussians of the stated noise with as many coins.

    The errors are the expected ones, rounded. Raises UserError as `lower_bound` does.
    """
    return lower_bound(list(map(_expected, tallies)), price, level)


def least_shift(tally: Tally, level: float) -> float:
    """Return mu: but with chance `level`, the step's noise is at most 1/mu of a canary's shift.

    mu = Phi^-1(1 - FPR) - Phi^-1(FNR), 0 if negative. Both rates stand at their one-sided
    Clopper-Pearson upper limits, each at level / 2. No coin tells nothing: the limit is 1 and mu is
    0.
    """
    missed = _upper_limit(tally.misses, tally.ins, level / 2)
    alarmed = _upper_limit(tally.false_alarms, tally.outs, level / 2)
    return float(max(-ndtri(alarmed) - ndtri(missed), 0.0))


def _upper_limit(errors: int, coins: int, level: float) -> float:
    return beta.isf(level, errors + 1, coins - errors) if errors < coins else 1.0


def _expected(tally: Tally) -> Tally:
    rate = ndtr(-0.5 / tally.noise_multiplier)
    misses, false_alarms = round(tally.ins * rate), round(tally.outs * rate)
    return replace(tally, misses=misses, false_alarms=false_alarms)
