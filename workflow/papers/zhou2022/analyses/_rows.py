"""The rows of the analysis `privacy-loss`: our price of every printed loss, what it would need."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from papers.zhou2022.analyses._assumptions import Assumptions, Pair, steps
from papers.zhou2022.analyses._printed import DECIMALS, shortest
from scipy.optimize import brentq

from dpfl.privacy.composition import classic_sigma
from dpfl.words.vocabulary import DIFFERS, MATCHES

HALF_DIGIT = 10**-DECIMALS / 2
GRID = 33  # points at which a solution is first looked for
PRECISE = 1e-5  # of a solution, relatively
SLACK = 1e-3  # how far beyond two solutions, relatively, what lies between them is looked for


class Single(NamedTuple):
    """What one σ can do for all printed epsilons of a pair; nan where it can do nothing."""

    best: float = math.nan
    """It comes nearest to all of them, and misses the farthest by `miss`."""
    miss: float = math.nan
    low: float = math.nan
    """From here to `high` every σ gives them all, rounded as they are."""
    high: float = math.nan
    fitted: float = math.nan
    """The one of these with the fewest decimals."""


def prices(assumed: Assumptions, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per printed cell and reading: our price, its distance and the verdict."""
    rows = []
    for pair in pairs:
        note = _note(assumed, pair)
        rows += [_cell(assumed, pair, *cell) | {"note": note} for cell in pair.printed]
    return pd.DataFrame(rows)


def _cell(assumed: Assumptions, pair: Pair, epochs: int, printed: float) -> dict[str, Any]:
    rate = assumed.rate(pair.dataset)
    sigma = classic_sigma(pair.header, assumed.header_delta)
    other = classic_sigma(pair.header, assumed.other_header_delta)
    found = assumed.classic(rate, sigma * pair.joint, epochs)
    return pair.row() | {
        "epochs": epochs,
        "sample_rate": rate,
        "steps": steps(rate, epochs),
        "delta": assumed.delta,
        "header_delta": assumed.header_delta,
        "sigma": sigma,
        "noise_multiplier": sigma * pair.joint,
        "published": printed,
        "classic_rdp": found,
        "residual": found - printed,
        "verdict": (MATCHES if matches(found, printed) else DIFFERS).verdict,
        "pld": assumed.truth(rate, sigma * pair.joint, epochs),
        "other_header_delta": assumed.other_header_delta,
        "other_sigma": other,
        "other_classic_rdp": assumed.classic(rate, other * pair.joint, epochs),
    }


def matches(found: float, printed: float) -> bool:
    """Return whether a price is the printed one, rounded as that is."""
    return round(found, DECIMALS) == printed


def _note(assumed: Assumptions, pair: Pair) -> str:
    """Say that one σ reproduces all printed epsilons of a pair, and what the header's own gives."""
    fitted = single(assumed, pair).fitted
    if math.isnan(fitted):
        return ""
    rate, own = assumed.rate(pair.dataset), classic_sigma(pair.header, assumed.header_delta)
    found = [assumed.classic(rate, own * pair.joint, epochs) for epochs, _ in pair.printed]
    texts = " / ".join(f"{value:.{DECIMALS}f}" for value in found)
    return f"reproduced at fitted σ {fitted:g}; {texts} at the header's own σ"


def needed(assumed: Assumptions, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per printed cell and reading: the σ, or else the q, that would give it."""
    rows = []
    for pair in pairs:
        rate, sigma = assumed.rate(pair.dataset), classic_sigma(pair.header, assumed.header_delta)
        for epochs, printed in pair.printed:
            other = _needed_rate(assumed, sigma * pair.joint, epochs, printed)
            row = {
                "epochs": epochs,
                "published": printed,
                "sigma": sigma,
                "needed_sigma": _needed_noise(assumed, rate, epochs, printed) / pair.joint,
                "batch_size": assumed.batch_size,
                "needed_batch_size": other * assumed.examples[pair.dataset],
                "sample_rate": rate,
                "needed_sample_rate": other,
            }
            rows.append(pair.row() | row)
    return pd.DataFrame(rows)


def fits(assumed: Assumptions, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per pair and reading: whether one σ gives all its printed epsilons.

    What differs by the number of epochs has a column for each, such as needed_sigma_25.
    """
    return pd.DataFrame([_fit(assumed, pair) for pair in pairs])


def _fit(assumed: Assumptions, pair: Pair) -> dict[str, Any]:
    rate, own = assumed.rate(pair.dataset), classic_sigma(pair.header, assumed.header_delta)
    nearest = single(assumed, pair)
    at = nearest.fitted * pair.joint
    unknown = math.isnan(at)
    by_epochs = {
        "published": lambda _, printed: printed,
        "needed_sigma": lambda *cell: _needed_noise(assumed, rate, *cell) / pair.joint,
        "fitted_classic_rdp": lambda n, _: math.nan if unknown else assumed.classic(rate, at, n),
        "fitted_pld": lambda n, _: math.nan if unknown else assumed.truth(rate, at, n),
        "pld": lambda n, _: assumed.truth(rate, own * pair.joint, n),
    }
    columns = {
        f"{name}_{cell[0]}": f(*cell) for name, f in by_epochs.items() for cell in pair.printed
    }
    return pair.row() | {
        "epochs": " / ".join(str(epochs) for epochs, _ in pair.printed),
        "sigma": own,
        "best_sigma": nearest.best,
        "best_miss": nearest.miss,
        "lowest_sigma": nearest.low,
        "highest_sigma": nearest.high,
        "fitted_sigma": nearest.fitted,
        **columns,
    }


def single(assumed: Assumptions, pair: Pair) -> Single:
    """Return the σ that comes nearest to all printed epsilons of a pair, and those that give them.

    All fall as the noise rises. Where the largest and the smallest residual are equal and opposite,
    the largest is as small as it gets.
    """
    rate = assumed.rate(pair.dataset)
    ends = [_needed_noise(assumed, rate, *cell) for cell in pair.printed]
    if any(map(math.isnan, ends)):
        return Single()

    def residuals(noise: float) -> list[float]:
        return [assumed.quick(rate, noise, epochs) - printed for epochs, printed in pair.printed]

    def balance(noise: float) -> float:
        return max(residuals(noise)) + min(residuals(noise))

    best = _root(balance, min(ends) * (1 - SLACK), max(ends) * (1 + SLACK))
    least, most = assumed.noise_ends
    for epochs, printed in pair.printed:
        lower = _needed_noise(assumed, rate, epochs, printed + HALF_DIGIT)
        upper = _needed_noise(assumed, rate, epochs, printed - HALF_DIGIT)
        least = max(least, 0 if math.isnan(lower) else lower)
        most = min(most, math.inf if math.isnan(upper) else upper)
    found = best / pair.joint, max(map(abs, residuals(best)))
    if least > most:
        return Single(*found)
    low, high = least / pair.joint, most / pair.joint
    return Single(*found, low, high, shortest(low, high, found[0]))


def _needed_noise(assumed: Assumptions, rate: float, epochs: int, printed: float) -> float:
    """Return the joint noise multiplier at which these epochs cost the printed epsilon, or nan."""
    return _solve(lambda z: -math.log(assumed.quick(rate, z, epochs) / printed), assumed.noise_ends)


def _needed_rate(assumed: Assumptions, noise: float, epochs: int, printed: float) -> float:
    """Return the sampling rate at which epochs/q steps cost the printed epsilon, or nan."""
    return _solve(lambda q: math.log(assumed.quick(q, noise, epochs) / printed), assumed.rate_ends)


def _solve(rising: Callable[[float], float], ends: tuple[float, float]) -> float:
    """Return where a rising function is zero between these ends, or nan.

    The bracket comes from one grid, whose prices are shared by all that is solved for.
    """
    grid = np.geomspace(*ends, GRID).tolist()
    index = bisect_right(grid, 0, key=rising)
    return _root(rising, *grid[index - 1 : index + 1]) if 0 < index < GRID else math.nan


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a monotone function is zero, found on a logarithmic scale."""
    ends = math.log(low), math.log(high)
    return math.exp(brentq(lambda x: function(math.exp(x)), *ends, xtol=PRECISE))
