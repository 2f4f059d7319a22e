"""The private steps of one holder of examples: every batch sampled, charged, then released.

The one path from examples to gradients: federated training and dpfl.Private both take it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from dpfl.audit.canaries import Canaries
from dpfl.base.errors import UserError
from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.contracts.release import PublicNoise, Release, Unproven
from dpfl.contracts.turn import Turn
from dpfl.draws import streams
from dpfl.draws.noise import Draws, Normal
from dpfl.factorizations.parts.streams import Stream
from dpfl.gradients import finite
from dpfl.gradients.step import Gradients, Public, Step
from dpfl.privacy.release import of_step, require_covered

cross_entropy = partial(functional.cross_entropy, reduction="none")
_DIGITS = "in fewer digits clipping does not hold"


class Ledger(Protocol):
    """What training asks of the accounts: dpfl.privacy's Ledger and Filter, or Unlimited.

    Filter has no charge_release: its budget refuses runs with a release before the first step.
    """

    def affordable(self, client: int | str, steps: int) -> int: ...
    def noise_multiplier(self, client: int | str) -> float: ...
    def charge(self, client: int | str, steps: int, noise_multiplier: float) -> None: ...
    def charge_release(self, client: int | str, name: str, noise_multiplier: float) -> None: ...
    def observe(self, update: Tensor) -> None: ...
    def epsilon_spent(self) -> float: ...
    def state(self) -> dict[Any, Any]: ...
    def restore(self, state: dict[Any, Any]) -> None: ...


class Batches(Protocol):
    """Examples by number: len() of them, and any of them as inputs [L, ...] and targets [L]."""

    def __len__(self) -> int: ...
    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]: ...


@dataclass(frozen=True)
class Sources:
    """Where a run's secrets come from: the kind of draws, and the keys of batches and noise."""

    draws: type[Draws]
    batch_key: tuple
    noise_key: tuple


@dataclass(frozen=True)
class Released:
    """A step's private gradient, flat [D], and the noise in it, None where it is not z C / B.

    `examples` is the size of the batch, which is not released.
    """

    gradient: Tensor
    noise: PublicNoise | None
    examples: int


def tell_noise(optimizer: torch.optim.Optimizer, noise: PublicNoise | None) -> None:
    """Tell an optimizer that asks for it what is public about the noise of the next step.

    UserError if it asks, and the mechanism's noise is not the same in every coordinate.
    """
    if not hasattr(optimizer, "tell_noise"):
        return
    if noise is None:
        name = type(optimizer).__name__
        raise UserError(
            f"optimizer {name} asks for the noise of a step, which must be z C in every "
            "coordinate, as that of dpsgd is"
        )
    optimizer.tell_noise(noise)


def poisson(
    draws: Draws, population: int, sample_rate: float, canaries: Canaries | None
) -> np.ndarray:
    """Return who is drawn of a population, each with the sample rate; so are canaries."""
    records = canaries.records if canaries else 0
    drawn = draws.uniform(population + records) < sample_rate
    chosen = np.flatnonzero(drawn[:population])
    if canaries:
        canaries.draw(drawn[population:], len(chosen), population, sample_rate)
    return chosen


def of_run(stream: Stream | None, normal: Normal) -> Normal:
    """Return a step's draws as the noise of a run; UserError if they are asked for twice."""
    if stream is None:
        return normal
    asked = []

    def noise(size: int) -> Tensor:
        if asked:
            raise UserError("factorization: the mechanism draws noise more than once in a step")
        asked.append(size)
        return stream.next(lambda: normal(size))

    return noise


def state_of(mechanism: Mechanism | ClientMechanism, canaries: Canaries | None) -> dict[str, Any]:
    """Return what a checkpoint keeps of a mechanism's clipping bounds and of canaries."""
    bounds = [rule.state() for rule in mechanism.clippings]
    return {"clippings": bounds, "canaries": canaries.state() if canaries else None}


def restore(
    mechanism: Mechanism | ClientMechanism, canaries: Canaries | None, state: dict[str, Any]
) -> None:
    """Continue from what `state_of` kept."""
    for rule, bound in zip(mechanism.clippings, state["clippings"], strict=True):
        rule.restore(bound)
    if canaries:
        canaries.restore(state["canaries"])


def require_full_precision(device: torch.device) -> None:
    """Raise UserError where products may be rounded: clipping compares norms with sums.

    Also in inference mode, in which nothing has a gradient.
    """
    precision, backends = torch.get_float32_matmul_precision(), torch.backends
    if precision != "highest":
        raise UserError(f"float32_matmul_precision is {precision!r}, expected 'highest': {_DIGITS}")
    if device.type == "cuda" and (backends.cudnn.allow_tf32 or backends.cuda.matmul.allow_tf32):
        raise UserError(
            "TF32 is on, expected torch.backends.cudnn.allow_tf32 = False and "
            f"torch.backends.cuda.matmul.allow_tf32 = False: {_DIGITS}"
        )
    if not (torch.tensor(1e-40) * 1.0).item():
        raise UserError(f"set_flush_denormal is on, expected off: {_DIGITS}")
    if torch.is_inference_mode_enabled():
        raise UserError("inference mode is on, expected off: in it there are no gradients")


def _require_digits() -> None:
    if torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda"):
        raise UserError(f"autocast is on, expected off: {_DIGITS}")


@dataclass(eq=False)
class PrivateSteps:
    """A holder's mechanism, which may keep a clipping bound, and the number of steps it has taken.

    Draws are keyed by (key, holder, step), so batches are equal for every method. A checkpoint
    stores nothing but counts and bounds. `canaries` watch the sampler, and the mechanism if it is
    `audited` by the same ones. `even_noise` says that it declares NOISE_IS_Z_C, or that there is no
    privacy and no noise. `differentiate` is what gives a mechanism its gradients, all at once or in
    microbatches.
    """

    holder: int | str
    mechanism: Mechanism
    ledger: Ledger
    sources: Sources
    loss_fn: Callable[[Tensor, Tensor], Tensor] = cross_entropy
    canaries: Canaries | None = None
    even_noise: bool = False
    differentiate: Callable[..., tuple[Gradients, Tensor]] = finite
    shared_noise: bool = False
    """Whether all holders draw the same noise in their steps of one number."""
    draw: Callable[[Turn], np.ndarray] | None = None
    """What draws batches otherwise than by Poisson."""
    stream: Stream | None = None
    """What makes the noise of steps from their draws, if it is of the whole run."""
    taken: int = field(default=0, init=False)

    def release(
        self,
        model: torch.nn.Module,
        examples: Batches,
        sample_rate: float,
        noise_multiplier: float,
        public: Public,
        number: int,
    ) -> Released:
        """Take one step: sample a batch, charge it, release its gradient.

        `number` counts the steps of a round. UserError if the step is not paid, under autocast, or
        if the mechanism promises less noise than is charged. Then nothing is sampled or released.
        """
        _require_digits()
        expected = sample_rate * len(examples)
        promised = of_step(self.mechanism, noise_multiplier, expected)
        require_covered(promised, noise_multiplier)
        self.ledger.charge(self.holder, 1, noise_multiplier)
        batch_key = (*self.sources.batch_key, self.holder, self.taken)
        noise_of = "all" if self.shared_noise else self.holder
        noise_key = (*self.sources.noise_key, noise_of, self.taken)
        turn = self.taken
        self.taken += 1  # whatever fails from here: this batch and this noise are never used again
        if self.draw is None:
            draws = self.sources.draws(*batch_key)
            chosen = poisson(draws, len(examples), sample_rate, self.canaries)
        else:
            own = partial(self.sources.draws, *self.sources.batch_key, self.holder)
            chosen = self.draw(Turn(len(examples), round(expected), turn, own))
            if self.canaries:
                self.canaries.took(chosen, len(examples), sample_rate)
        step = Step(
            model,
            self.loss_fn,
            *examples[torch.from_numpy(chosen)],
            noise_multiplier=noise_multiplier,
            expected_batch=expected,
            normal=of_run(self.stream, self.sources.draws(*noise_key).normal),
            public=public,
            public_rng=partial(streams.rng, *batch_key, "public"),
            number=number,
            differentiate=self.differentiate,
        )
        noise = self._public_noise(promised, noise_multiplier, expected)
        gradient = self.mechanism.estimate(step).to(next(model.parameters()).dtype)
        return Released(gradient, noise, len(chosen))

    def _public_noise(
        self, promised: Release | Unproven, noise_multiplier: float, expected: float
    ) -> PublicNoise | None:
        """Return the noise of the next step, before the clipping bound moves."""
        if self.even_noise and not noise_multiplier:
            return PublicNoise(0.0, math.inf, expected)
        if not (self.even_noise and self.mechanism.clippings and isinstance(promised, Release)):
            return None
        clip_norm = self.mechanism.clippings[0].clip_norm
        return PublicNoise(promised.multipliers[0], clip_norm, expected)

    def skip_to(self, step: int) -> None:
        """Leave out the steps before this one: their draws may have been used, and are not again.

        UserError if more were taken, or if they are part of the noise of a whole run.
        """
        if step < self.taken:
            raise UserError(f"step is {step}, but {self.holder} has taken {self.taken} before")
        if step > self.taken and self.stream:
            raise UserError(f"factorization: {self.holder} left steps out; their noise is missing")
        self.taken = step

    def end_round(self) -> None:
        """Forget what the mechanism keeps between the steps of a round."""
        if hasattr(self.mechanism, "forget"):
            self.mechanism.forget()

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        kept = {"taken": self.taken, **state_of(self.mechanism, self.canaries)}
        return kept | ({"noise": self.stream.state()} if self.stream else {})

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from what a checkpoint kept."""
        self.taken = state["taken"]
        if self.stream:
            self.stream.restore(state["noise"])
        restore(self.mechanism, self.canaries, state)
