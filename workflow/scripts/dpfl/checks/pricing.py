"""Finds budgets that the chosen accountant cannot price, and plans of more steps than any can."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import attrgetter

from dpfl import plugins
from dpfl.base.errors import UserError

MOST_STEPS = 10**7
"""As the calculator's (dpfl.privacy.priceable), which is not imported here: half a second."""
CERTIFICATE, PLAIN = "pld", 1e-2
"""From this epsilon on, noise meets every target by the accountant that certifies."""
MUCH_NOISE = 1e6


@dataclass(frozen=True)
class Spending:
    """The private steps of the busiest client of a federation, or of the server."""

    name: str
    rate: float
    steps: int
    epsilons: tuple[float, ...]
    delta: float
    accountant: str


def unpriceable(spent: Iterable[Spending]) -> Iterator[str]:
    """Yield a line for every federation whose steps or budgets cannot be priced."""
    told = set()
    for spending in sorted(set(spent), key=attrgetter("steps"), reverse=True):
        if spending.name in told:
            continue
        where = f"config: federations.{spending.name}"
        found = list(_too_long(where, spending)) or list(_accountant_errors(where, spending))
        told |= {spending.name for _ in found}
        yield from found


def _too_long(where: str, spending: Spending) -> Iterator[str]:
    if spending.steps > MOST_STEPS:
        yield f"{where} takes {spending.steps} steps, expected at most {MOST_STEPS}"


def _accountant_errors(where: str, spending: Spending) -> Iterator[str]:
    name, least = spending.accountant, min(spending.epsilons, default=math.inf)
    if not spending.epsilons:
        return
    if spending.rate < 1 and not plugins.constant("privacy/accountants", name, "SAMPLED", True):
        able = [
            other
            for other in plugins.names("privacy/accountants")
            if plugins.constant("privacy/accountants", other, "SAMPLED", True)
        ]
        told = f"which prices no sampled batches, as {where.removeprefix('config: ')} draws them"
        yield f"config: accountant = {name}, {told}; expected one of {', '.join(able)}"
    elif name != CERTIFICATE or least < PLAIN:
        yield from _unreachable(where, spending, least)


def _unreachable(where: str, spending: Spending, least: float) -> Iterator[str]:
    """Price the steps with so much noise that nothing could be learned; imports the accountant."""
    from dpfl.privacy import accounting

    try:
        cheapest = accounting.epsilon(
            spending.rate, MUCH_NOISE, spending.steps, spending.delta, spending.accountant
        )
    except UserError as error:
        yield f"config: accountant = {spending.accountant}: {error}"
        return
    if cheapest > least:
        yield (
            f"config: accountant = {spending.accountant} prices the {spending.steps} steps of "
            f"{where.removeprefix('config: ')} at {cheapest:.3g} or more, epsilon is {least:g}"
        )
