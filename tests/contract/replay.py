"""Replay of steps with chosen draws: the noise on all that a step releases, exactly and unsampled.

At fixed data a step is an affine map of its draws, released = L draws + mean: the estimate times B,
and the logarithm of every bound that moves. Unit draws give L. With s how far one example moves the
mean, the step is a Gaussian of multiplier z if s is in the range of L (else something is released
without noise) and s^T (L L^T)^+ s <= 1/z^2. `check` names what does not hold; [] if all does.

What a later step releases may depend on an earlier batch through what that released alone: the
draws of the batch without the example are moved by L^+ s, which hides it, and the next step must
be the same.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import torch
from torch import Tensor, nn

from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.draws import streams
from dpfl.gradients.step import Public, Step

FEATURES, CLASSES, CUT = 7, 3, 4
CLIP = 0.7
TOLERANCE = 1e-4  # of a bound: what rounding a float32 sum, or a release, may do
RANK = 1e-4  # noise weaker than this beside the strongest is none
UNIT = 16.0  # the size of the draws that L is measured with: rounding is small beside them


@dataclass(frozen=True)
class Batch:
    """Examples with known gradients: inputs [L, 7], whose norms are those of the gradients."""

    inputs: Tensor
    targets: Tensor

    def without_the_last(self) -> "Batch":
        """Return the batch that one example has left."""
        return Batch(self.inputs[:-1], self.targets[:-1])

    def gradients(self) -> Tensor:
        """Return the gradients [L, D] of `Halves` with `Loss`."""
        outer = _directions(self.inputs.dtype)[self.targets].unsqueeze(2) * self.inputs.unsqueeze(1)
        parts = (outer[..., :CUT], outer[..., CUT:])
        return torch.cat([part.flatten(1) for part in parts], dim=1)


def batch(rows: Sequence[tuple[Sequence[float], int]]) -> Batch:
    """Return the batch of these (input, target)."""
    inputs = torch.tensor([x for x, _ in rows], dtype=torch.float64).reshape(len(rows), FEATURES)
    return Batch(inputs, torch.tensor([target for _, target in rows], dtype=torch.long))


def drawn(norms: Sequence[float], *key: streams.Key) -> Batch:
    """Return examples of these norms, in directions and of targets drawn at random."""
    rng = streams.rng("replay", "batch", *key)
    directions = rng.standard_normal((len(norms), FEATURES))
    directions /= (directions**2).sum(1, keepdims=True) ** 0.5
    inputs = torch.tensor(norms, dtype=torch.float64)[:, None] * torch.from_numpy(directions)
    return Batch(inputs, torch.from_numpy(rng.integers(CLASSES, size=len(norms))))


EMPTY, PUBLIC = batch([]), drawn([1.0] * 12, "public")
NEXT = drawn((0.05 * CLIP, 20 * CLIP, 0.1 * CLIP, 30 * CLIP), "next")  # far from any bound


class Halves(nn.Module):
    """A sum of two layers, each of a part of the input: two parameters, D = 21."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(CUT, CLASSES, bias=False)
        self.second = nn.Linear(FEATURES - CUT, CLASSES, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.first(inputs[:, :CUT]) + self.second(inputs[:, CUT:])


class Loss:
    """A loss that is linear in the outputs, so that the gradient of (x, t) is direction_t x^T.

    A mechanism may choose among several releases by the loss of the public examples. Of these
    trials only number `chosen` comes out finite, so that each release is seen in turn.
    """

    def __init__(self, public: Tensor, chosen: int):
        self.public, self.chosen, self.trials = public, chosen, 0

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        losses = (outputs * _directions(outputs.dtype)[targets]).sum(1)
        if outputs.requires_grad or targets is not self.public:
            return losses
        self.trials += 1
        return losses if self.trials == self.chosen + 1 else torch.full_like(losses, math.inf)


@dataclass(frozen=True)
class Charged:
    """What a step is charged for, and the type of its numbers."""

    noise_multiplier: float = 1.3
    expected: float = 10.0
    dtype: torch.dtype = torch.float64


class Examples(Charged):
    """Takes steps of a mechanism that protects examples."""

    def take(
        self, mechanism: Mechanism, given: Batch, normal: "Tape", number: int, chosen: int
    ) -> tuple[Tensor, int]:
        """Return the noisy sum [D] of a step, and how many trials it made on public examples."""
        loss = Loss(PUBLIC.targets, chosen)
        estimate = mechanism.estimate(
            Step(
                model=_model(self.dtype),
                loss_fn=loss,
                inputs=given.inputs.to(self.dtype),
                targets=given.targets,
                noise_multiplier=self.noise_multiplier,
                expected_batch=self.expected,
                normal=normal,
                public=Public(PUBLIC.inputs.to(self.dtype), PUBLIC.targets),
                public_rng=lambda: streams.rng("replay", "public", number),
                number=number,
            )
        )
        return estimate.double() * self.expected, loss.trials


class Clients(Charged):
    """Takes rounds of a mechanism that protects clients, whose updates are the same gradients."""

    def take(
        self, mechanism: ClientMechanism, given: Batch, normal: "Tape", number: int, chosen: int
    ) -> tuple[Tensor, int]:
        """Return the noisy sum [D] of a round, and that it tried nothing out."""
        size = CLASSES * FEATURES
        update = mechanism.aggregate(
            iter(given.gradients().to(self.dtype)),
            like=torch.zeros(size, dtype=self.dtype),
            noise_multiplier=self.noise_multiplier,
            expected_clients=self.expected,
            normal=normal,
        )
        return update.double() * self.expected, 0


class Tape:
    """Hands out given draws in order, then zeros, and keeps the sizes asked for."""

    def __init__(self, draws: Tensor):
        self.draws, self.sizes = draws, []

    def __call__(self, size: int) -> Tensor:
        start = sum(self.sizes)
        self.sizes.append(size)
        found, part = torch.zeros(size, dtype=torch.float64), self.draws[start : start + size]
        found[: len(part)] = part
        return found


Build = Callable[[], Mechanism | ClientMechanism]
Unit = Examples | Clients
NONE = torch.zeros(0, dtype=torch.float64)


@dataclass(frozen=True)
class Warm:
    """Builds a mechanism that has taken a step before."""

    build: Build
    unit: Unit

    def __call__(self) -> Mechanism | ClientMechanism:
        mechanism = self.build()
        self.unit.take(mechanism, NEXT, Tape(_random(200, "warm")), 0, 0)
        return mechanism


class Replay:
    """The steps of a mechanism on chosen batches and draws, all in units of its bounds."""

    def __init__(self, build: Build, unit: Unit):
        self.build, self.unit = build, unit
        tape = Tape(NONE)
        _, self.trials = unit.take(build(), EMPTY, tape, 0, 0)
        self.sizes = tape.sizes
        self.offset = self.released(EMPTY, NONE)
        units = UNIT * torch.eye(sum(self.sizes), dtype=torch.float64)
        columns = [(self.released(EMPTY, draws) - self.offset) / UNIT for draws in units]
        self.map = torch.stack(columns, dim=1) if columns else self.offset.new_zeros(0, 0)
        self.inverse = torch.linalg.pinv(self.map, rtol=RANK)

    def released(self, given: Batch, draws: Tensor) -> Tensor:
        """Return all that a step releases: every estimate it may choose, the bounds it moves to."""
        views = [self._view(given, draws, chosen) for chosen in range(max(1, self.trials))]
        return torch.cat([*(estimate for estimate, _ in views), views[0][1]])

    def _view(self, given: Batch, draws: Tensor, chosen: int) -> tuple[Tensor, Tensor]:
        mechanism, tape = self.build(), Tape(draws)
        estimate, _ = self.unit.take(mechanism, given, tape, 0, chosen)
        if tape.sizes != self.sizes:
            raise AssertionError(f"draws of sizes {tape.sizes} and, without data, {self.sizes}")
        return estimate / CLIP, _bounds(mechanism)

    def after(self, given: Batch, draws: Tensor) -> Tensor:
        """Return what the step after this one releases; its own batch and draws are fixed."""
        mechanism = self.build()
        self.unit.take(mechanism, given, Tape(draws), 0, 0)
        estimate, _ = self.unit.take(mechanism, NEXT, Tape(_random(200, "next")), 1, 0)
        return torch.cat([estimate / CLIP, _bounds(mechanism)])


def check(build: Build, unit: Unit, batches: Iterable[Batch]) -> list[str]:
    """Return what a mechanism does to the last examples of these batches that its noise hides not.

    `build` returns it anew. Looked at is its first step, and the one after that.
    """
    try:
        batches = list(batches)
        return [
            f"{when}: {reason}"
            for when, make in (("first step", build), ("next step", Warm(build, unit)))
            for reason in _reasons(Replay(make, unit), batches)
        ]
    except AssertionError as error:
        return [str(error)]


def correlation(build: Build, unit: Unit, repetitions: int = 100) -> float:
    """Return the correlation of the noise in two successive steps of one mechanism."""
    noise = []
    for repetition in range(repetitions):
        mechanism = build()
        draws = (Tape(_random(200, "correlation", repetition, step)) for step in (0, 1))
        noise.append([unit.take(mechanism, EMPTY, d, n, 0)[0] for n, d in enumerate(draws)])
    first, second = (torch.cat(step) for step in zip(*noise, strict=True))
    return float(first @ second / (first.norm() * second.norm()))


def _reasons(replay: Replay, batches: list[Batch]) -> Iterator[str]:
    if not sum(replay.sizes):
        yield "no noise is drawn"
        return
    if _differ(replay.map @ _noise(replay), replay.released(EMPTY, _noise(replay)) - replay.offset):
        yield "what is released is not affine in the draws"
        return
    for number, given in enumerate(batches):
        for reason in _reasons_of(replay, given):
            yield f"batch {number}, norms {_norms(given)}: {reason}"


def _reasons_of(replay: Replay, given: Batch) -> Iterator[str]:
    less, noise = given.without_the_last(), _noise(replay)
    means = [replay.released(which, NONE) for which in (given, less)]
    for which, mean in zip((given, less), means, strict=True):
        if _differ(replay.map @ noise, replay.released(which, noise) - mean):
            yield "the noise depends on the batch"
    moved = means[0] - means[1]
    hidden = replay.inverse @ moved
    if _differ(replay.map @ hidden, moved):
        yield "the last example moves what no noise covers"
        return
    allowed, found = 1 / replay.unit.noise_multiplier, float(hidden.norm())
    if not found <= allowed * (1 + TOLERANCE) + TOLERANCE:
        yield f"the last example moves the release by {found:.4f} of its noise, not {allowed:.4f}"
    if _differ(replay.after(given, noise), replay.after(less, noise + hidden)):
        yield "the next step shows more of this batch than this one released"


def _noise(replay: Replay) -> Tensor:
    return _random(sum(replay.sizes), "noise")


def _differ(first: Tensor, second: Tensor) -> bool:
    """Tell whether two releases differ by more than rounding; what is not finite does."""
    return not bool(((first - second).abs() <= TOLERANCE * (1 + first.abs())).all())


def _bounds(mechanism: Mechanism | ClientMechanism) -> Tensor:
    """Return the logarithms of the bounds that move."""
    moving = [rule.clip_norm for rule in mechanism.clippings if rule.state()]
    return torch.tensor(moving, dtype=torch.float64).log()


def _random(size: int, *key: streams.Key) -> Tensor:
    return torch.from_numpy(streams.rng("replay", *key).standard_normal(size))


def _norms(given: Batch) -> str:
    return ", ".join(f"{float(x.norm()) / CLIP:.3g} C" for x in given.inputs)


@cache
def _directions(dtype: torch.dtype) -> Tensor:
    """Return orthonormal directions of the outputs, one a target, no axis among them."""
    drawn = torch.from_numpy(streams.rng("replay", "outputs").standard_normal((CLASSES, CLASSES)))
    return torch.linalg.qr(drawn).Q.to(dtype)


@cache
def _model(dtype: torch.dtype) -> Halves:
    model = Halves().to(dtype)
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            p.copy_(_random(p.numel(), "weights", number).view_as(p))
    return model
