"""Whether a mechanism draws the noise that it promises, measured before anything is released.

A certificate rests on what a mechanism's file says of its noise. Here that is tried, on batches
without examples. Canaries show how far one record moves what is released and how much noise lies on
it.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.draws import streams
from dpfl.draws.noise import Normal, none
from dpfl.gradients.step import Public, Step
from dpfl.training.steps import Sources

OnNobody = Callable[[Any, Normal, int], Tensor]
"""Takes a step, or a round, of a mechanism, with this noise and number, without any examples."""

CALLS = 4
TOLERANCE = 0.06  # five standard errors of the noise that CALLS steps show
ALIKE = 0.5  # the correlation of two steps' noise: of independent ones within .16, at five errors
REPEATED = 0.25  # the same along one step, over all calls: of independent ones within .1


class _Watch:
    """Canaries that are in or out for good, half of them each; keeps what a step shows of them."""

    columns, length = 1000, 1.0

    def __init__(self):
        self.residuals: list[float] = []
        self.x = np.zeros(self.columns)

    def hits(self) -> np.ndarray:
        """Return the columns of those that are in."""
        return np.arange(self.columns // 2)

    def observe(self, x: np.ndarray, noise_multiplier: float) -> None:
        """Keep what a step showed, in shifts of one canary."""
        self.x = x


def require_noise(
    name: str,
    build: Callable[[_Watch], Any],
    release: OnNobody,
    noise_multiplier: float,
    sources: Sources,
) -> None:
    """Raise UserError unless a record's shift is at most 1/z of the noise on it, drawn anew.

    `build` puts canaries into a mechanism; `release` is on nobody, at noise multiplier z. A
    mechanism that differentiates by itself cannot be asked.
    """
    if plugins.constant("mechanisms", name, "OWN_GRADIENTS"):
        return
    watch = _Watch()
    mechanism = build(watch)
    release(mechanism, none, 1)
    still = watch.x
    shift = float(np.abs(still).max())
    rows = []
    for number in range(CALLS):
        release(mechanism, sources.draws(*sources.noise_key, "probe", number).normal, number + 2)
        rows.append(watch.x - still)
    spread = float(np.sqrt(np.mean(np.square(rows))))
    found = spread / shift if shift else np.inf
    why = None
    if found < noise_multiplier * (1 - TOLERANCE):
        why = f"it promises a noise multiplier of {noise_multiplier:.4g} and draws {found:.4g}"
    elif np.abs(np.corrcoef(rows) - np.eye(CALLS)).max() > ALIKE:
        why = "the noise of two steps is alike, it must be drawn anew in every step"
    elif _repeated(np.array(rows)) > REPEATED:
        why = "the noise of a step repeats itself along the gradient"
    if why:
        raise UserError(f"mechanism {name}: {why}; nothing was released")


def _repeated(rows: np.ndarray) -> float:
    """Return the largest correlation of rows [n, m] with themselves, moved along by some places."""
    power = np.square(np.abs(np.fft.rfft(rows - rows.mean(axis=1, keepdims=True)))).sum(axis=0)
    moved = np.fft.irfft(power, rows.shape[1])
    return float(np.abs(moved[1:]).max() / moved[0])


def example_step(
    model: torch.nn.Module,
    loss_fn: Callable[[Tensor, Tensor], Tensor],
    nobody: tuple[Tensor, Tensor],
    noise_multiplier: float,
    expected: float,
    public: Public,
    sources: Sources,
) -> OnNobody:
    """Return what takes a step of a mechanism on a batch without examples, `nobody` its shapes."""
    rng = partial(streams.rng, *sources.batch_key, "probe")
    step = Step(model, loss_fn, *nobody, noise_multiplier, expected, none, public, rng)
    return lambda mechanism, normal, number: mechanism.estimate(
        replace(step, normal=normal, number=number)
    )


def client_round(like: Tensor, noise_multiplier: float, expected: float) -> OnNobody:
    """Return what takes a round of a mechanism that no client was sampled for."""
    cohort = {"like": like, "noise_multiplier": noise_multiplier, "expected_clients": expected}
    return lambda mechanism, normal, _: mechanism.aggregate(iter(()), **cohort, normal=normal)
