"""The rows of the analysis `privacy-loss`: printed epsilons, priced again and solved for."""

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq

from dpfl.printed_losses import Loss, shortest
from dpfl.privacy import accounting
from dpfl.privacy.accountants import _renyi, classic_rdp
from dpfl.privacy.composition import classic_sigma
from dpfl.privacy.events import poisson_gaussian

ONE, ALL = "as one release", "all releases charged"
"""How a batch is charged: one noisy sum at σ, or everything that the method releases from it."""

DECIMALS = 2  # of the printed epsilons
HALF_DIGIT = 10**-DECIMALS / 2
GRID = 33  # points at which a solution is first looked for
PRECISE = 1e-5  # of a solution, relatively
SLACK = 1e-3  # how far beyond two solutions, relatively, what lies between them is looked for
ORDERS = np.array(classic_rdp.ORDERS)


@dataclass(frozen=True)
class Plan:
    """What is assumed of every run: batches, deltas, and where solutions are looked for."""

    batch_size: int
    examples: Mapping[str, int]
    delta: float
    header_delta: float
    other_header_delta: float
    noise_ends: tuple[float, float]
    rate_ends: tuple[float, float]

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Plan":
        """Read the settings."""
        names = ("batch_size", "examples", "delta", "header_delta", "other_header_delta")
        search = settings["search"]
        ends = (tuple(search["noise_multiplier"]), tuple(search["sample_rate"]))
        return cls(*(settings[name] for name in names), *ends)

    def rate(self, dataset: str) -> float:
        """Return the sampling rate L/N."""
        return self.batch_size / self.examples[dataset]

    def classic(self, rate: float, noise: float, epochs: int) -> float:
        """Return the price of epochs/q steps, in whole steps, by classic RDP."""
        return _price(rate, noise, steps(rate, epochs), self.delta, "classic-rdp")

    def quick(self, rate: float, noise: float, epochs: int) -> float:
        """Return the same price from all orders at once, for solving."""
        spent = steps(rate, epochs) * _divergences(rate, noise)
        return float(np.min(spent + math.log(1 / self.delta) / (ORDERS - 1)))

    def truth(self, rate: float, noise: float, epochs: int) -> float:
        """Return the price of the same steps by PLD."""
        return _price(rate, noise, steps(rate, epochs), self.delta, "pld")


@dataclass(frozen=True)
class Pair:
    """A method on a data set at one header, under a reading: its printed epsilons by epochs."""

    dataset: str
    header: float
    method: str
    reading: str
    joint: float
    """The joint noise multiplier of what a batch releases, as a multiple of σ."""
    printed: tuple[tuple[int, float], ...]

    def row(self) -> dict[str, Any]:
        """Return the columns that name it."""
        return {
            "dataset": self.dataset,
            "header_epsilon": self.header,
            "method": self.method,
            "reading": self.reading,
        }


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


def steps(rate: float, epochs: int) -> int:
    """Return how many batches the epochs are."""
    return max(1, round(epochs / rate))


def pairs(
    cells: Iterable[Loss], datasets: Iterable[str], releases: Mapping[str, Sequence[float]]
) -> list[Pair]:
    """Return the cells of these data sets and methods, those at several epochs together.

    `releases` holds, per method, the noise of everything that it releases from a batch, as
    multiples of σ. More than one of them makes two readings.
    """
    cells = list(cells)
    headers = dict.fromkeys(cell.header for cell in cells)
    found = []
    for dataset, header, method in product(datasets, headers, releases):
        own = sorted(
            (cell.epochs, cell.epsilon)
            for cell in cells
            if (cell.dataset, cell.header, cell.method) == (dataset, header, method)
        )
        for reading, joint in _readings(releases[method]) if own else ():
            found.append(Pair(dataset, header, method, reading, joint, tuple(own)))
    return found


def _readings(scales: Sequence[float]) -> Iterator[tuple[str, float]]:
    """Yield the readings of a batch's releases with their joint noise, 1/z^2 = sum 1/c_j^2."""
    joint = sum(scale**-2 for scale in scales) ** -0.5
    yield ONE, 1.0 if len(scales) > 1 else joint
    if len(scales) > 1:
        yield ALL, joint


def prices(plan: Plan, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per printed cell and reading: our price, its distance and the verdict."""
    rows = []
    for pair in pairs:
        note = _note(plan, pair)
        rows += [_cell(plan, pair, *cell) | {"note": note} for cell in pair.printed]
    return pd.DataFrame(rows)


def _cell(plan: Plan, pair: Pair, epochs: int, printed: float) -> dict[str, Any]:
    rate = plan.rate(pair.dataset)
    sigma = classic_sigma(pair.header, plan.header_delta)
    other = classic_sigma(pair.header, plan.other_header_delta)
    found = plan.classic(rate, sigma * pair.joint, epochs)
    return pair.row() | {
        "epochs": epochs,
        "sample_rate": rate,
        "steps": steps(rate, epochs),
        "delta": plan.delta,
        "header_delta": plan.header_delta,
        "sigma": sigma,
        "noise_multiplier": sigma * pair.joint,
        "published": printed,
        "classic_rdp": found,
        "residual": found - printed,
        "verdict": "matches" if matches(found, printed) else "differs",
        "pld": plan.truth(rate, sigma * pair.joint, epochs),
        "other_header_delta": plan.other_header_delta,
        "other_sigma": other,
        "other_classic_rdp": plan.classic(rate, other * pair.joint, epochs),
    }


def matches(found: float, printed: float) -> bool:
    """Return whether a price is the printed one, rounded as that is."""
    return round(found, DECIMALS) == printed


def _note(plan: Plan, pair: Pair) -> str:
    """Say that one σ reproduces all printed epsilons of a pair, and what the header's own gives."""
    fitted = _single(plan, pair).fitted
    if math.isnan(fitted):
        return ""
    rate, own = plan.rate(pair.dataset), classic_sigma(pair.header, plan.header_delta)
    found = [plan.classic(rate, own * pair.joint, epochs) for epochs, _ in pair.printed]
    texts = " / ".join(f"{value:.{DECIMALS}f}" for value in found)
    return f"reproduced at fitted σ {fitted:g}; {texts} at the header's own σ"


def needed(plan: Plan, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per printed cell and reading: the σ, or else the q, that would give it."""
    rows = []
    for pair in pairs:
        rate, sigma = plan.rate(pair.dataset), classic_sigma(pair.header, plan.header_delta)
        for epochs, printed in pair.printed:
            other = _needed_rate(plan, sigma * pair.joint, epochs, printed)
            row = {
                "epochs": epochs,
                "published": printed,
                "sigma": sigma,
                "needed_sigma": _needed_noise(plan, rate, epochs, printed) / pair.joint,
                "batch_size": plan.batch_size,
                "needed_batch_size": other * plan.examples[pair.dataset],
                "sample_rate": rate,
                "needed_sample_rate": other,
            }
            rows.append(pair.row() | row)
    return pd.DataFrame(rows)


def fits(plan: Plan, pairs: Iterable[Pair]) -> pd.DataFrame:
    """Return one row per pair and reading: whether one σ gives all its printed epsilons.

    What differs by the number of epochs has a column for each, such as needed_sigma_25.
    """
    return pd.DataFrame([_fit(plan, pair) for pair in pairs])


def _fit(plan: Plan, pair: Pair) -> dict[str, Any]:
    rate, own = plan.rate(pair.dataset), classic_sigma(pair.header, plan.header_delta)
    single = _single(plan, pair)
    at = single.fitted * pair.joint
    unknown = math.isnan(at)
    by_epochs = {
        "published": dict(pair.printed),
        "needed_sigma": {
            epochs: _needed_noise(plan, rate, epochs, printed) / pair.joint
            for epochs, printed in pair.printed
        },
        "fitted_classic_rdp": {
            epochs: math.nan if unknown else plan.classic(rate, at, epochs)
            for epochs, _ in pair.printed
        },
        "fitted_pld": {
            epochs: math.nan if unknown else plan.truth(rate, at, epochs)
            for epochs, _ in pair.printed
        },
        "pld": {epochs: plan.truth(rate, own * pair.joint, epochs) for epochs, _ in pair.printed},
    }
    columns = {
        f"{name}_{epochs}": value
        for name, values in by_epochs.items()
        for epochs, value in values.items()
    }
    return pair.row() | {
        "epochs": " / ".join(str(epochs) for epochs, _ in pair.printed),
        "sigma": own,
        "best_sigma": single.best,
        "best_miss": single.miss,
        "lowest_sigma": single.low,
        "highest_sigma": single.high,
        "fitted_sigma": single.fitted,
        **columns,
    }


def _single(plan: Plan, pair: Pair) -> Single:
    """Return the σ that comes nearest to all printed epsilons of a pair, and those that give them.

    All fall as the noise rises: where the largest and the smallest residual are equal and opposite,
    the largest is as small as it gets.
    """
    rate = plan.rate(pair.dataset)
    ends = [_needed_noise(plan, rate, *cell) for cell in pair.printed]
    if any(map(math.isnan, ends)):
        return Single()

    def residuals(noise: float) -> list[float]:
        return [plan.quick(rate, noise, epochs) - printed for epochs, printed in pair.printed]

    def balance(noise: float) -> float:
        return max(residuals(noise)) + min(residuals(noise))

    best = _root(balance, min(ends) * (1 - SLACK), max(ends) * (1 + SLACK))
    least, most = plan.noise_ends
    for epochs, printed in pair.printed:
        lower = _needed_noise(plan, rate, epochs, printed + HALF_DIGIT)
        upper = _needed_noise(plan, rate, epochs, printed - HALF_DIGIT)
        least = max(least, 0 if math.isnan(lower) else lower)
        most = min(most, math.inf if math.isnan(upper) else upper)
    found = best / pair.joint, max(map(abs, residuals(best)))
    if least > most:
        return Single(*found)
    low, high = least / pair.joint, most / pair.joint
    return Single(*found, low, high, shortest(low, high, found[0]))


@lru_cache(maxsize=4096)
def _price(rate: float, noise: float, steps: int, delta: float, accountant: str) -> float:
    return accounting.epsilon(rate, noise, steps, delta, accountant)


@lru_cache(maxsize=4096)
def _divergences(rate: float, noise: float) -> np.ndarray:
    """Return what one step costs at every order of classic RDP."""
    return _renyi.composed(poisson_gaussian(rate, noise, 1), classic_rdp.ORDERS).rdp


def _needed_noise(plan: Plan, rate: float, epochs: int, printed: float) -> float:
    """Return the joint noise multiplier at which these epochs cost the printed epsilon, or nan."""
    return _solve(lambda z: -math.log(plan.quick(rate, z, epochs) / printed), plan.noise_ends)


def _needed_rate(plan: Plan, noise: float, epochs: int, printed: float) -> float:
    """Return the sampling rate at which epochs/q steps cost the printed epsilon, or nan."""
    return _solve(lambda q: math.log(plan.quick(q, noise, epochs) / printed), plan.rate_ends)


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
