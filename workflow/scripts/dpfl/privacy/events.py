"""Privacy as values: what a training run releases, as events that an accountant prices.

Everything released from one batch is ONE Gaussian with the joint multiplier z, 1/z^2 = sum 1/z_j^2.
Several separately sampled events for the same batch would under-report its cost.
"""

from collections.abc import Sequence
from itertools import groupby
from numbers import Integral
from operator import itemgetter
from typing import Any

from dp_accounting import (
    ComposedDpEvent,
    DpEvent,
    GaussianDpEvent,
    PoissonSampledDpEvent,
    SelfComposedDpEvent,
)

from dpfl.base.errors import UserError
from dpfl.base.suggestions import shortened

ADD_OR_REMOVE_ONE = "add-or-remove-one"

REFUSED = {
    "shuffle": "shuffling has no amplification that is proven, only the unamplified Gaussian at "
    "mu = sqrt(epochs)/sigma under zero-out adjacency",
    "fixed-size": "a batch of fixed size is amplified under replace-one adjacency only, which "
    "never shares a column with add-or-remove-one",
}


def require(name: str, value: Any, holds: bool, bound: str) -> None:
    """Raise a UserError that names the value and its bound unless the bound holds."""
    if not holds:
        raise UserError(f"{name} is {shortened(value)}, must be {bound}")


def require_count(name: str, value: Any, at_least: int) -> None:
    """Raise a UserError unless the value is a whole number of at least `at_least`."""
    holds = isinstance(value, Integral) and value >= at_least
    require(name, value, holds, f"a whole number >= {at_least}")


def require_poisson(sampling: str) -> None:
    """Refuse, with the reason, every way of sampling batches that is not priced with rate q."""
    reason = REFUSED.get(sampling, "only 'poisson' sampling is priced")
    if sampling != "poisson":
        raise UserError(f"sampling {sampling!r} cannot be certified: {reason}")


def poisson_gaussian(sample_rate: float, noise_multiplier: float, steps: int) -> DpEvent:
    """Return `steps` Gaussian releases, each of a fresh Poisson batch, add or remove one example.

    Rate 1 is the plain Gaussian. Raises UserError outside 0 < q <= 1, z > 0, T >= 1.
    """
    require("sample_rate", sample_rate, 0 < sample_rate <= 1, "in (0, 1]")
    require("noise_multiplier", noise_multiplier, noise_multiplier > 0, "> 0")
    require_count("steps", steps, 1)
    release = GaussianDpEvent(noise_multiplier)
    if sample_rate < 1:
        release = PoissonSampledDpEvent(sample_rate, release)
    return SelfComposedDpEvent(release, steps)


def varying(
    sample_rate: float, segments: Sequence[tuple[float, int]], released: Sequence[float] = ()
) -> DpEvent:
    """Return the steps of a run whose noise changes: (noise multiplier, steps), in order.

    `released` are the multipliers of what was released before, once each, of all examples: events
    of the same run. Neighbours with the same noise are one segment. Raises UserError as
    `poisson_gaussian` does.
    """
    taken = (segment for segment in segments if segment[1])
    merged = [(z, sum(n for _, n in group)) for z, group in groupby(taken, itemgetter(0))]
    parts = (
        *(poisson_gaussian(1.0, z, 1) for z in released),
        *(poisson_gaussian(sample_rate, z, steps) for z, steps in merged),
    )
    return parts[0] if len(parts) == 1 else ComposedDpEvent(parts)


def precision(event: DpEvent) -> float | None:
    """Return the sum of 1/z^2 over Gaussians without sampling; None if the event holds others."""
    match event:
        case GaussianDpEvent(noise_multiplier=z) if z > 0:
            return z**-2
        case SelfComposedDpEvent(event=inner, count=count):
            found = precision(inner)
            return None if found is None else count * found
        case ComposedDpEvent(events=parts):
            found = [precision(part) for part in parts]
            return None if None in found else sum(found)
    return None
