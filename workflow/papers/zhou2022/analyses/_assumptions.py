"""What the analysis `privacy-loss` assumes of every run, and what a run costs by it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from papers.zhou2022.analyses._printed import Loss

from dpfl.privacy import accounting, release, renyi
from dpfl.privacy.accountants import classic_rdp
from dpfl.privacy.events import poisson_gaussian

ONE, ALL = "as one release", "all releases charged"
"""How a batch is charged: one noisy sum at σ, or everything that the method releases from it."""


@dataclass(frozen=True)
class Assumptions:
    """What is assumed of every run: batches, deltas, and where solutions are looked for."""

    batch_size: int
    examples: Mapping[str, int]
    delta: float
    header_delta: float
    other_header_delta: float
    noise_ends: tuple[float, float]
    rate_ends: tuple[float, float]

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> "Assumptions":
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
        return accounting.epsilon(rate, noise, steps(rate, epochs), self.delta, "classic-rdp")

    def quick(self, rate: float, noise: float, epochs: int) -> float:
        """Return the same price from all orders at once, for solving."""
        spent = steps(rate, epochs) * _divergences(rate, noise)
        return classic_rdp.converted(spent, self.delta)

    def truth(self, rate: float, noise: float, epochs: int) -> float:
        """Return the price of the same steps by PLD."""
        return accounting.epsilon(rate, noise, steps(rate, epochs), self.delta)


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
        where = {"dataset": self.dataset, "header_epsilon": self.header}
        return where | {"method": self.method, "reading": self.reading}


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
    """Yield the readings of a batch's releases with their joint noise."""
    joint = release.joint(scales)
    yield ONE, 1.0 if len(scales) > 1 else joint
    if len(scales) > 1:
        yield ALL, joint


@lru_cache(maxsize=4096)
def _divergences(rate: float, noise: float) -> np.ndarray:
    """Return what one step costs at every order of classic RDP."""
    return renyi.divergences(poisson_gaussian(rate, noise, 1), classic_rdp.ORDERS)
