"""Opacus' privacy random variables (Gopi et al. 2021), shown beside the truth."""

import math
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)

from dpfl.base.errors import UserError
from dpfl.privacy.accountants import rdp

ERROR = 0.01  # what Opacus adds to the epsilon that it finds, and derives its grid from
SHARE = 0.05  # of the bound of rdp: the error where that is less
POINTS = 2**24  # of the grid; more would take minutes and gigabytes

Release = tuple[float, float, int]
"""Opacus' record of steps that are alike: noise multiplier, sample rate, steps."""


def epsilon(event: DpEvent, delta: float, draft: bool = False) -> float:
    """Return Opacus' upper bound on the epsilon of an event; a draft costs the same.

    Raises UserError for other events than Poisson-sampled Gaussians, and where Opacus gives up.
    Also where its rounding is not small beside delta: then its bound is above that of rdp.
    """
    accountant = _accountant_class()()
    accountant.history = list(_history(event, 1))
    bound = rdp.epsilon(event, delta)
    error = min(ERROR, SHARE * bound)
    _require_grid(event, sum(steps for _, _, steps in accountant.history), delta, error)
    try:
        # It warns of logarithms of zero that it does not use, and of the orders of its rough bound.
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            found = float(accountant.get_epsilon(delta, eps_error=error))
    except (RuntimeError, ValueError, MemoryError) as failure:
        raise UserError(f"PRV cannot price {event}: Opacus says: {failure}") from failure
    if found > bound + 2 * error:
        raise UserError(
            f"PRV cannot price {event}: its sums do not resolve delta {delta:g}; rdp shows at most "
            f"{bound:.4g}, it says {found:.4g}"
        )
    return found


def _history(event: DpEvent, times: int) -> Iterator[Release]:
    """Yield the records of an event that is repeated."""
    match event:
        case SelfComposedDpEvent(event=inner, count=count):
            yield from _history(inner, count * times)
        case ComposedDpEvent(events=parts):
            for part in parts:
                yield from _history(part, times)
        case GaussianDpEvent(noise_multiplier=z):
            yield z, 1.0, times
        case PoissonSampledDpEvent(sampling_probability=q, event=GaussianDpEvent() as release):
            yield release.noise_multiplier, q, times
        case _:
            raise UserError(f"PRV cannot price {event}: only Poisson-sampled Gaussians")


def _require_grid(event: DpEvent, steps: int, delta: float, error: float) -> None:
    """Refuse what needs too many points: Opacus' mesh shrinks with the number of steps."""
    mesh = error / math.sqrt(steps * math.log(12_000 / delta) / 2)
    points = 2 * (3 + rdp.epsilon(event, delta / 4000)) / mesh
    if points > POINTS:
        raise UserError(
            f"PRV cannot price {steps} steps here: it needs {points:.2g} grid points, more than "
            f"{POINTS:.2g}"
        )


@cache
def _accountant_class() -> Any:
    """Return Opacus' accountant class; with torch, about four CPU seconds, only if need be."""
    try:
        with _bare_packages():
            return import_module("opacus.accountants.prv").PRVAccountant
    except ImportError:
        return import_module("opacus.accountants").PRVAccountant


@contextmanager
def _bare_packages() -> Iterator[None]:
    """Meanwhile let Opacus' packages be bare folders: the accountants themselves need no torch.

    `opacus.optimizers` is needed for the name of a type in an annotation. Afterwards all of it is
    forgotten, so that a later `import opacus` finds the real packages.
    """
    found = None if "opacus" in sys.modules else find_spec("opacus")
    if found is None:  # it is loaded already, or not installed
        yield
        return
    folder = Path(found.submodule_search_locations[0])
    packages = {"opacus": folder, "opacus.accountants": folder / "accountants"}
    for name, path in packages.items():
        sys.modules[name] = ModuleType(name)
        sys.modules[name].__path__ = [str(path)]
    sys.modules["opacus.optimizers"] = ModuleType("opacus.optimizers")
    sys.modules["opacus.optimizers"].DPOptimizer = object
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "opacus"]:
            del sys.modules[name]
