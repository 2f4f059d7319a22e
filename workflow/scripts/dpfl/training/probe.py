"""Whether a mechanism adds the noise that it promises, looked at before anything is released.

A certificate rests on what a mechanism's file says of its noise. Here some steps are taken on
nobody, with draws that are kept. What is released is then compared with these very draws, over all
coordinates. No chance is in that, so a sound mechanism passes whatever it draws. With an even copy
of the draws N [T, m] the releases R [T, W] have the inner products of the draws, R R^T = s^2 N N^T.
That holds exactly where every draw goes to a direction of its own, with the same scale s. It fails
where noise repeats itself, is uneven, is rounded, or comes from anywhere else. It also fails where
noise is carried into another step. Parts with scales of their own are drawn by calls of their own.

Canaries in the batch show how far one record moves the release, and s how much noise lies on that.
"""

import hashlib
import math
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from dpfl.audit.audited import SATURATED, innermost
from dpfl.base.errors import UserError
from dpfl.contracts.federation import Cohort
from dpfl.contracts.release import joint
from dpfl.draws import streams
from dpfl.draws.gaussian import GRID
from dpfl.draws.noise import Normal, none
from dpfl.gradients import finite
from dpfl.gradients.dirac import Dirac
from dpfl.gradients.step import Gradients, Public, Step
from dpfl.training.steps import Sources

STEPS = (0, 1, 49, 50, 99)  # numbers of the steps that are taken with noise
STILL = 101  # and of those without, taken after the first until nothing of it is carried over
COLUMNS, HITS = 64, 4  # canaries, and how many of them are in the batch, the first
ROUNDING = 20.0  # times the grid: 34 deviations of what rounding does to an inner product
SHORT = 1e-4  # of the promised noise: what rounding of a canary's shift may hide
UNSEEN = "the canaries in its batch do not show, so that nobody sees what a record moves"
PARTS = 6  # calls whose draws one release may hold


@dataclass(frozen=True)
class OnNobody:
    """Takes a step, or a round, of a mechanism on nobody: `release(mechanism, normal, number, C)`.

    It returns the sum [W] or sums [J, W] in float64. Canaries of SATURATED times C are appended,
    none where C is None. `size` is the number of parameters, `dtype` their type.
    """

    release: Callable[[Any, Normal, int, float | None], Tensor]
    size: int
    dtype: torch.dtype


@dataclass(frozen=True)
class Promise:
    """What a mechanism promises: its noise multiplier, its first bound, what its file declares.

    `asks` says that it asks the step for gradients, so that canaries can be put among them.
    """

    name: str
    noise_multiplier: float
    clip_norm: float
    asks: bool = True
    even: bool = False
    correlation: tuple[float, ...] = (1.0,)


class _Tape:
    """Draws from a source and keeps what was drawn, call by call."""

    def __init__(self, normal: Normal):
        self.normal, self.calls = normal, []

    def __call__(self, size: int) -> Tensor:
        drawn = self.normal(size)
        self.calls.append(drawn.double().numpy().copy())
        return drawn


@dataclass(frozen=True)
class _Taken:
    """Releases [T, J, W] at STEPS, that without noise [J, W], and draws [T, m] of every call."""

    released: np.ndarray
    still: np.ndarray
    draws: list[np.ndarray]


_PASSED: list[Path] = []


@contextmanager
def shared() -> Iterator[None]:
    """Let processes that are forked meanwhile probe what they have in common once."""
    with tempfile.TemporaryDirectory(prefix="probed-") as folder:
        _PASSED.append(Path(folder))
        try:
            yield
        finally:
            _PASSED.pop()


def require_noise(
    promise: Promise, build: Callable[[], Any], nobody: OnNobody, sources: Sources, *key: Any
) -> None:
    """Raise UserError unless a mechanism's noise is drawn as promised: see the module.

    Looked at is the innermost mechanism, whatever is made of its release. `key` tells apart what
    processes share.
    """
    asked = repr((promise, nobody.size, str(nobody.dtype), sources.draws.__name__, *key))
    passed = _PASSED[-1] / hashlib.sha256(asked.encode()).hexdigest() if _PASSED else None
    if passed and passed.exists():
        return
    mechanism = innermost(build())
    fault = next(_faults(promise, mechanism, nobody, sources), None)
    if fault:
        raise UserError(f"mechanism {promise.name}: {fault}; nothing was released")
    if passed:
        passed.touch()


def require_canaries(promise: Promise, mechanism: Any, nobody: OnNobody) -> None:
    """Raise UserError unless canaries show in what a mechanism without a proof releases.

    Its audit would take them for canaries that noise hides. One that differentiates by itself has
    none, and its audit says so.
    """
    if not promise.asks:
        return
    length = SATURATED * promise.clip_norm
    still = nobody.release(innermost(mechanism), none, STILL, length).cpu().numpy()
    if not all(map(_shift, np.atleast_2d(still))):
        raise UserError(f"mechanism {promise.name}: {UNSEEN}; nothing was released")


def _faults(promise: Promise, mechanism: Any, nobody: OnNobody, sources: Sources) -> Iterator[str]:
    """Yield what is wrong with the noise of a mechanism."""
    if not promise.asks and not (promise.even and mechanism.clippings):
        yield (
            "it differentiates by itself, so that no canary shows what a record moves, and does "
            "not declare NOISE_IS_Z_C: without a proof of that it must be Unproven"
        )
        return
    try:
        taken = _take(promise, mechanism, nobody, sources)
    except ValueError:
        yield "its steps draw different numbers of normals, whatever their batches"
        return
    if not (np.isfinite(taken.released).all() and np.isfinite(taken.still).all()):
        yield "it releases numbers that are not finite on a batch without examples"
        return
    eps = torch.finfo(nobody.dtype).eps
    found = []
    for row, still in zip(taken.released.swapaxes(0, 1), taken.still, strict=True):
        part = _Noise(row - still, taken.draws, promise.correlation, eps)
        yield from part.faults()
        if not part.scales:
            return
        if part.off_the_grid(row):
            yield (
                "what it releases lies off the grid of its noise (dpfl.draws.gaussian.noisy_sum), "
                "so that the last digits tell the sum"
            )
        shift = mechanism.clippings[0].clip_norm if not promise.asks else _shift(still)
        if not shift:
            yield UNSEEN
            return
        scale = part.scale_of(slice(-COLUMNS, None) if promise.asks else slice(None))
        found.append(scale / max(shift - part.grid / 2, 1e-9 * shift))
    z, drawn = promise.noise_multiplier, joint(found)
    if drawn < z * (1 - SHORT):
        yield f"it promises a noise multiplier of {z:.4g} and draws {drawn:.4g}"


def _take(promise: Promise, mechanism: Any, nobody: OnNobody, sources: Sources) -> _Taken:
    """Take the steps; the bounds of clipping are put back before each. ValueError: see _faults."""
    bounds = [rule.state() for rule in mechanism.clippings]
    length = SATURATED * promise.clip_norm if promise.asks else None

    def released(normal: Normal, number: int) -> np.ndarray:
        for rule, bound in zip(mechanism.clippings, bounds, strict=True):
            if bound:
                rule.restore(bound)
        return np.atleast_2d(nobody.release(mechanism, normal, number, length).cpu().numpy())

    tapes = [_Tape(sources.draws(*sources.noise_key, "probe", n).normal) for n in STEPS]
    rows = [released(tapes[0], STEPS[0])]
    for _ in promise.correlation:
        still = released(none, STILL)
    rows += map(released, tapes[1:], STEPS[1:])
    calls = zip(*(tape.calls for tape in tapes), strict=True)
    return _Taken(np.stack(rows), still, [np.stack(call) for call in calls])


def _shift(still: np.ndarray) -> float:
    """Return how far a canary moves a release, 0 unless those that are in show, and no other."""
    columns = np.abs(still[-COLUMNS:])
    shown, others = columns[:HITS], columns[HITS:]
    return float(shown.max()) if shown.min() > others.max() else 0.0


class _Noise:
    """The noise of one release, R [T, W], beside the draws of its steps.

    `scales` are those of the calls whose draws are in it, by number; {} if these do not explain it.
    Calls are taken in one after another, each the one most like what is not explained yet.
    """

    def __init__(
        self,
        noise: np.ndarray,
        draws: Sequence[np.ndarray],
        correlation: Sequence[float],
        eps: float,
    ):
        self.noise, self.draws, self.eps = noise, draws, eps
        self.scales: dict[int, float] = {}
        carried = sum(c * np.eye(len(noise), k=-lag) for lag, c in enumerate(correlation))
        carried[1:, 0] = 0  # the first step is over
        self._grams = [carried @ (drawn @ drawn.T) @ carried.T for drawn in draws]
        self._found = noise @ noise.T
        self._explain(ROUNDING * max(GRID, eps) / math.sqrt(noise.shape[1]))

    def _explain(self, tolerance: float) -> None:
        chosen: list[int] = []
        rest, allowed = self._found, tolerance * np.abs(self._found).max()
        while len(chosen) < min(PARTS, len(self._grams)) and np.abs(rest).max() > allowed:
            alike = [float(np.vdot(rest, gram)) / np.linalg.norm(gram) for gram in self._grams]
            chosen.append(max(set(range(len(alike))) - {*chosen}, key=lambda c: alike[c]))
            parts = np.stack([self._grams[c].ravel() for c in chosen], axis=1)
            size = np.linalg.norm(parts, axis=0)
            squares = np.linalg.lstsq(parts / size, self._found.ravel(), rcond=None)[0] / size
            rest = self._found - (parts @ squares).reshape(rest.shape)
        if chosen and np.abs(rest).max() <= allowed:
            # Others, such as the noise of a count, may have been tried before the last one.
            held = np.abs(squares) * np.abs(parts).max(axis=0) > allowed
            if (squares[held] > 0).all():
                self.scales = {
                    call: math.sqrt(square)
                    for call, square, counts in zip(chosen, squares, held, strict=True)
                    if counts
                }

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with it, whatever its scale."""
        width = self.noise.shape[1]
        drawn = sum(self.draws[call].shape[1] for call in self.scales or range(len(self.draws)))
        bare = int((self.noise == 0).all(axis=0).sum())
        if bare:
            yield f"{bare} of the {width} coordinates have no noise"
        elif drawn < width:
            yield (
                f"the noise of a step repeats itself along the gradient: {drawn} draws are in its "
                f"{width} coordinates"
            )
        elif not self.scales and self._alike():
            yield (
                "the noise of two steps is alike: it must be drawn anew in every step, from what "
                "the step is handed"
            )
        elif not self.scales:
            yield (
                "the noise of a step is not an even copy of its draws: it repeats itself, has "
                "fewer digits, differs between coordinates, or is carried over from another step"
            )

    def _alike(self) -> bool:
        """Tell whether two steps have more in common than the draws of independent ones."""
        root = np.sqrt(self._found.diagonal())
        between = self._found / np.outer(root, root) - np.eye(len(root))
        return bool(np.abs(between).max() > 6 / math.sqrt(self.noise.shape[1]))

    @property
    def grid(self) -> float:
        """Return the grid of noise of the smallest scale."""
        least = min(self.scales.values()) * (1 - 1e-6)  # where it is a power of two
        return math.ldexp(GRID, math.frexp(least)[1] - 1)

    def off_the_grid(self, released: np.ndarray) -> bool:
        """Tell whether a released number is no multiple of the grid, beyond rounding afterwards."""
        points = released / self.grid
        rounding = 1.5 * self.eps * np.abs(points)
        return bool(((np.abs(points - np.rint(points)) > rounding) & (rounding < 0.4)).any())

    def scale_of(self, columns: slice) -> float:
        """Return the scale of the call that some coordinates have their noise of."""
        spread = float(np.sqrt(np.mean(np.square(self.noise[:, columns]))))
        return min(self.scales.values(), key=lambda scale: abs(scale - spread))


def _with_canaries(length: float, *batch: Any) -> tuple[Gradients, Tensor]:
    """Return the gradients of a batch and of canaries; what it is called for is none of theirs."""
    gradients, norms = finite(*batch)
    found = Dirac(gradients, torch.arange(HITS, device=norms.device), length, COLUMNS)
    return found, found.norms()


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

    def release(mechanism: Any, normal: Normal, number: int, length: float | None) -> Tensor:
        given = replace(step, normal=normal, number=number)
        if length is not None:
            watching = partial(_with_canaries, length)
            given = replace(given, differentiate=watching, appended=COLUMNS)
        return mechanism.estimate(given).double() * expected

    return OnNobody(release, step.size, next(model.parameters()).dtype)


def client_round(like: Tensor, noise_multiplier: float, expected: float) -> OnNobody:
    """Return what takes a round of a mechanism that no client was sampled for."""

    def release(mechanism: Any, normal: Normal, number: int, length: float | None) -> Tensor:
        columns = 0 if length is None else COLUMNS
        shape = torch.cat([like, like.new_zeros(columns)])
        update = mechanism.aggregate(
            _canaries(shape, HITS if columns else 0, length),
            Cohort(shape, expected, (slice(0, len(like)),)),
            noise_multiplier=noise_multiplier,
            normal=normal,
        )
        return update.double() * expected

    return OnNobody(release, len(like), like.dtype)


def _canaries(shape: Tensor, hits: int, length: float | None) -> Iterator[Tensor]:
    """Yield the updates of canaries, one appended coordinate each."""
    for column in range(hits):
        update = torch.zeros_like(shape)
        update[column - COLUMNS] = length
        yield update
