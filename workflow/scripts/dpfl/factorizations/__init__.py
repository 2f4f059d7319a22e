"""Noise of a whole run: how its steps' noise is correlated, a file for each factorization.

With fresh draws Z, a row a step, and a lower-triangular C [n, n], the noise of the steps is C^-1 Z.
So a run that releases X + C^-1 Z tells as much as C X + Z: one Gaussian. Its sensitivity is the
longest sum of the columns of C that one example's steps pick (Choquette-Choo et al. 2023, arXiv
2306.08153). Each file defines `sensitivity(run, **settings)`, relative to one clipped row, where an
example is there or its place is empty (zero-out), and `stream(**settings)`, the noise of steps. One
whose C is banded names in BANDS the setting that says how many bands it has.
"""

import inspect
import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts import bounds
from dpfl.factorizations.parts.streams import Stream

PACKAGE = "factorizations"
ROUNDING = 1e-12


@dataclass(frozen=True)
class Run:
    """Steps in a fixed order: an example takes part every `separation` steps, so often at most."""

    steps: int
    participations: int
    separation: int

    def __post_init__(self):
        if not (self.participations - 1) * self.separation < self.steps:
            raise UserError(
                f"{self.participations} participations every {self.separation} steps are more "
                f"than {self.steps} steps hold"
            )


class Factorization:
    """One of the files, with its settings; UserError for an unknown one, and a bad setting."""

    def __init__(self, name: str, settings: Mapping[str, Any]):
        """Read settings, which are texts or numbers."""
        self.name, self._file = name, plugins.load(PACKAGE, name)
        parameters = inspect.signature(self._file.sensitivity).parameters.items()
        known = {key: p for key, p in parameters if p.kind == p.KEYWORD_ONLY}
        self._settings = {key: _number(name, key, text, known) for key, text in settings.items()}
        for key, parameter in known.items():
            if parameter.default is parameter.empty and key not in settings:
                raise UserError(f"setting {key} of {name} is missing; give --setting {key}=...")

        bounds.check(f"factorization {name}", self._file.SETTINGS, self._settings)

    @property
    def bands(self) -> int | None:
        """Return how many bands C has; None where it has as many as steps."""
        return self._settings[self._file.BANDS] if hasattr(self._file, "BANDS") else None

    def stream(self) -> Stream:
        """Return what makes the noise of steps, one after the other."""
        return self._file.stream(**self._settings)

    def made_of(self, steps: int) -> np.ndarray:
        """Return of which fresh draws the noise of each step is made [steps, n]."""
        import torch  # here, for plans are priced without it

        stream, places = self.stream(), itertools.count()
        draws = torch.eye(2 * steps, dtype=torch.float64)  # a restart draws twice
        return torch.stack([stream.next(lambda: draws[next(places)]) for _ in range(steps)]).numpy()

    def sensitivity(self, run: Run) -> float:
        """Return how far one example moves C X at most, in clip norms.

        Raises UserError for a setting out of its bounds.
        """
        return self._file.sensitivity(run, **self._settings)


def _number(name: str, key: str, text: Any, known: Mapping[str, inspect.Parameter]) -> float:
    """Return a setting as the number that it must be."""
    if key not in known:
        raise UserError(f"no setting {key!r} of {name}; {nearest(key, known)}")
    kind = known[key].annotation
    if isinstance(text, str):
        try:
            return kind(text)
        except ValueError as error:
            raise UserError(f"setting {key} is {text!r}, expected a number") from error
    if isinstance(text, bool) or not isinstance(text, (int, kind)):
        raise UserError(f"setting {key} is {text!r}, expected a number")
    return kind(text)


def of_toeplitz(coefficients: np.ndarray, run: Run) -> float:
    """Return the sensitivity of a Toeplitz C by its first column [n]; what is left out is zero.

    Exact where coefficients are >= 0 and never rise: then the earliest steps of an example are its
    worst (Kalinin and Lampert 2024, arXiv 2405.13763, theorem 2). UserError for others.
    """
    found = np.zeros(run.steps)
    found[: len(coefficients)] = coefficients[: run.steps]
    if found.min() < -ROUNDING or np.diff(found).max(initial=0) > ROUNDING:
        raise UserError("the coefficients of C must be >= 0 and never rise; these are not priced")
    total = np.zeros(run.steps)
    for start in range(0, run.participations * run.separation, run.separation):
        total[start:] += found[: run.steps - start]
    return float(np.linalg.norm(total))


def root_of_workload(count: int, momentum: float, decay: float, power: float) -> np.ndarray:
    """Return so many coefficients of ((1 - decay x)(1 - momentum x))^power, power +-1/2.

    With -1/2 they are the square root of the workload, sums of steps with momentum and weight decay
    (Kalinin and Lampert 2024); without either 1, 1/2, 3/8, ... With 1/2 those of its inverse.
    """
    if count < 1:
        raise UserError(f"bands is {count}, must be >= 1")
    if not 0 <= momentum < decay <= 1:
        raise UserError(
            f"momentum is {momentum}, decay {decay}: expected 0 <= momentum < decay <= 1"
        )
    number = np.arange(1, count)
    binomial = np.cumprod([1.0, *(number - 1 - power) / number])
    powers = np.arange(count)
    return np.convolve(binomial * decay**powers, binomial * momentum**powers)[:count]
