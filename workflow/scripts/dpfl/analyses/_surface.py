"""The rows of the analysis `epsilon-surface`."""

from collections.abc import Sequence
from itertools import product

import pandas as pd
from dp_accounting import DpEvent

from dpfl.privacy.accountants import gaussian, pld, rdp
from dpfl.privacy.events import poisson_gaussian

LARGE = 50.0  # an epsilon that protects nobody; PLD's memory grows with it


def prices(
    noise_multipliers: Sequence[float],
    rounds: Sequence[int],
    sample_rates: Sequence[float],
    delta: float,
) -> pd.DataFrame:
    """Return one row per sampling rate, noise multiplier and number of releases T."""
    rows = []
    for rate, noise, releases in product(sample_rates, noise_multipliers, rounds):
        epsilon, accountant = _price(rate, poisson_gaussian(rate, noise, releases), delta)
        rows.append((rate, noise, releases, delta, epsilon, accountant))
    heads = ["sample_rate", "noise_multiplier", "rounds", "delta", "epsilon", "accountant"]
    return pd.DataFrame(rows, columns=heads)


def _price(rate: float, event: DpEvent, delta: float) -> tuple[float, str]:
    """Return the epsilon of an event and which accountant found it."""
    if rate == 1:
        return gaussian.epsilon(event, delta), "gaussian"
    bound = rdp.epsilon(event, delta)
    return (bound, "rdp") if bound > LARGE else (pld.epsilon(event, delta), "pld")
