"""What the replay tries mechanisms on: two networks, batches of known gradients, charged steps.

`HALVES` has 21 weights, and its gradients are known in closed form. `DEEP` has 5,355 parameters: a
convolution, a norm layer, biases. A target names a direction of the outputs. In `DEEP` it also
names how long the gradient becomes, and a loss that has nothing to do with that.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial

import numpy as np
import torch
from torch import Tensor, nn

from dpfl.contracts.federation import Cohort
from dpfl.contracts.protocols import ClientMechanism, Mechanism
from dpfl.draws import streams
from dpfl.gradients import PerExampleGradients
from dpfl.gradients.step import Public, Step

FEATURES, CLASSES, CUT = 7, 3, 4
CLIP = 0.7
PICTURE = (1, 8, 8)
NOISE, LARGEST, EXPECTED = (0.1, 50.0), 200, 1000  # on `DEEP`; of batches, and what is expected
STRETCHES = (1.0, 1e-6, 1e-2, 10.0, 1e4)  # what a gradient is multiplied by
LOSSES = (math.nan, 0.0, 1e6, -1e6)  # what a loss is shown as; NaN: as it is
SCALES = (1.0, 10.0, 0.1)  # of the weights of `DEEP`
LONG, SHORT, PLAIN, NOTHING, HIGH, LOW = 4, 1, 0, 1, 2, 3  # places in the two


@dataclass(frozen=True)
class Batch:
    """Examples: inputs [L, ...] and targets [L]."""

    inputs: Tensor
    targets: Tensor

    def without(self, place: int) -> "Batch":
        """Return the batch that one example has left."""
        rest = torch.arange(len(self.targets)) != place
        return Batch(self.inputs[rest], self.targets[rest])

    def turned(self) -> "Batch":
        """Return the same examples in the other order."""
        return Batch(self.inputs.flip(0), self.targets.flip(0))

    @cached_property
    def gradients(self) -> Tensor:
        """Return the gradients [L, D] of the network that takes such inputs."""
        network = DEEP if self.inputs.dim() > 2 else HALVES
        model, loss = network.model(torch.float64), Loss(network.public.targets, 0)
        return PerExampleGradients(model, loss, self.inputs, self.targets).rows()


def batch(rows: Sequence[tuple[Sequence[float], int]]) -> Batch:
    """Return the batch of these (input, target) for `HALVES`, norms of inputs those of gradients.

    So it is with the loss of this module.
    """
    inputs = torch.tensor([x for x, _ in rows], dtype=torch.float64).reshape(len(rows), FEATURES)
    return Batch(inputs, torch.tensor([target for _, target in rows], dtype=torch.long))


def drawn(norms: Sequence[float], *key: streams.Key) -> Batch:
    """Return examples of these norms, in directions and of targets drawn at random."""
    rng = streams.rng("replay", "batch", *key)
    directions = rng.standard_normal((len(norms), FEATURES))
    directions /= (directions**2).sum(1, keepdims=True) ** 0.5
    inputs = torch.tensor(norms, dtype=torch.float64)[:, None] * torch.from_numpy(directions)
    return Batch(inputs, torch.from_numpy(rng.integers(CLASSES, size=len(norms))))


def pictures(
    stretches: Sequence[int], losses: Sequence[int], empty: Sequence[bool], *key: streams.Key
) -> Batch:
    """Return examples for `DEEP`, by places in STRETCHES and LOSSES; `empty` ones are all zeros."""
    rng = streams.rng("replay", "pictures", *key)
    inputs = rng.standard_normal((len(stretches), *PICTURE))
    inputs[np.asarray(empty, bool)] = 0.0
    levels = np.asarray(stretches, int) * len(LOSSES) + np.asarray(losses, int)
    targets = levels * CLASSES + rng.integers(CLASSES, size=len(stretches))
    return Batch(torch.from_numpy(inputs), torch.from_numpy(targets))


class Halves(nn.Module):
    """A sum of two layers, each of a part of the input: two parameters, D = 21."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(CUT, CLASSES, bias=False)
        self.second = nn.Linear(FEATURES - CUT, CLASSES, bias=False)

    def forward(self, inputs: Tensor) -> Tensor:
        return self.first(inputs[:, :CUT]) + self.second(inputs[:, CUT:])


def _deep() -> nn.Module:
    features = nn.Conv2d(1, 8, 3), nn.GroupNorm(2, 8), nn.Tanh(), nn.Flatten()
    return nn.Sequential(*features, nn.Linear(288, 18), nn.Tanh(), nn.Linear(18, CLASSES))


@dataclass(frozen=True)
class Network:
    """A network, and the batches that are the same in all trials on it."""

    build: Callable[[], nn.Module]
    public: Batch
    empty: Batch
    next: Batch
    """The batch of the step after the one that is looked at, far from any bound."""
    wide: bool = False
    """It has too many parameters for a matrix of their noise."""
    scale: float = 1.0
    """What its weights are multiplied by."""

    @cache  # noqa: B019
    def model(self, dtype: torch.dtype) -> nn.Module:
        """Return the network with weights that are always the same."""
        model = self.build().to(dtype)
        with torch.no_grad():
            for number, p in enumerate(model.parameters()):
                scale = p[0].numel() ** -0.5 if self.wide and p.dim() > 1 else 1.0
                p.copy_(self.scale * scale * random(p.numel(), "weights", number).view_as(p))
        return model

    @cache  # noqa: B019
    def later(self, number: int) -> Batch:
        """Return the batch of a step after the one that is looked at; not all is far from C."""
        if self.wide or number == 1:
            return self.next
        norms = CLIP * 10 ** (0.6 * random(5, "later", number) - 0.5)
        return drawn(norms.tolist(), "later", number)


_FAR = [0.05 * CLIP, 20 * CLIP, 0.1 * CLIP, 30 * CLIP]
HALVES = Network(Halves, drawn([1.0] * 12, "public"), batch([]), drawn(_FAR, "next"))
DEEP = Network(
    _deep,
    pictures([PLAIN] * 12, [0] * 12, [False] * 12, "public"),
    pictures([], [], [], "empty"),
    pictures((SHORT, LONG, SHORT, LONG), [0] * 4, [False] * 4, "next"),
    wide=True,
)


class Loss:
    """A loss that is linear in the outputs; in `HALVES` the gradient of (x, t) is direction_t x^T.

    A mechanism may choose among several releases by the loss of the public examples. Of these
    trials only number `chosen` comes out finite, so that each release is seen in turn.
    """

    def __init__(self, public: Tensor, chosen: int):
        self.public, self.chosen, self.trials = public, chosen, 0

    def __call__(self, outputs: Tensor, targets: Tensor) -> Tensor:
        losses = _losses(outputs, targets)
        if outputs.requires_grad or targets is not self.public:
            return losses
        self.trials += 1
        return losses if self.trials == self.chosen + 1 else torch.full_like(losses, math.inf)


def _losses(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the losses as their targets stretch and show them."""
    losses = (outputs * _directions(outputs.dtype)[targets % CLASSES]).sum(1)
    levels = targets // CLASSES
    if not levels.any():
        return losses
    losses = losses * losses.new_tensor(STRETCHES)[levels // len(LOSSES)]
    shown = losses.new_tensor(LOSSES)[levels % len(LOSSES)]
    return losses - torch.where(shown.isnan(), 0.0, losses.detach() - shown)


class Tape:
    """Hands out given draws in order, then zeros, and keeps the sizes asked for."""

    def __init__(self, draws: Tensor):
        self.draws, self.sizes = draws, []

    def __call__(self, size: int) -> Tensor:
        part = self.draws[sum(self.sizes) :][:size]
        self.sizes.append(size)
        return torch.cat([part, part.new_zeros(size - len(part))])


@dataclass(frozen=True)
class Charged:
    """What a step is charged for, the type of its numbers, and the network."""

    noise_multiplier: float = 1.3
    expected: float = 10.0
    dtype: torch.dtype = torch.float64
    network: Network = HALVES


class Examples(Charged):
    """Takes steps of a mechanism that protects examples."""

    def take(
        self, mechanism: Mechanism, given: Batch, normal: Tape, number: int = 0, chosen: int = 0
    ) -> tuple[Tensor, int]:
        """Return the noisy sum [D] of a step, and how many trials it made on public examples."""
        known, inputs = self.network.public, given.inputs.to(self.dtype)
        model, loss = self.network.model(self.dtype), Loss(known.targets, chosen)
        charged = self.noise_multiplier, self.expected, normal
        public = Public(known.inputs.to(self.dtype), known.targets)
        rng = partial(streams.rng, "replay", "public", number)
        step = Step(model, loss, inputs, given.targets, *charged, public, rng, number)
        return mechanism.estimate(step).double().flatten() * self.expected, loss.trials


LARGER = 8
"""Examples of the last client, which is left out in turn; the others have one."""


class Clients(Charged):
    """Takes rounds of a mechanism that protects clients, whose updates are the same gradients."""

    def take(
        self, mechanism: ClientMechanism, given: Batch, normal: Tape, *_: int
    ) -> tuple[Tensor, int]:
        """Return the noisy sum [D] of a round, and that it tried nothing out."""
        updates = given.gradients.to(self.dtype)
        size = updates.shape[1]
        parts = slice(0, size // 2), slice(size // 2, size)
        sizes = [1] * (len(updates) - 1) + [LARGER] * (len(updates) > 0)
        cohort = Cohort(updates.new_zeros(size), self.expected, parts, sizes)
        z = self.noise_multiplier
        update = mechanism.aggregate(iter(updates), cohort, noise_multiplier=z, normal=normal)
        return update.double() * self.expected, 0


Unit = Examples | Clients


def cases(unit: type[Unit], count: int) -> Iterator[tuple[Unit, Batch]]:
    """Yield steps on `DEEP` that differ in all that a mechanism may look at, one batch each.

    Noise, and expected sizes and batches from 1, are spread evenly by their logarithms. Which
    of them meet is drawn at random, once for all. Fewer than 4 z are never expected: there the
    noise of a count moves a bound to its limits. Most examples are long; the last one, which is
    left out in turn, nearly always. In every third batch its loss is shown as far above all
    others, in every third as far below. Weights are as they are, long or short.
    """
    rng = streams.rng("replay", "cases")
    sizes, expected = (rng.permutation(np.geomspace(1, top, count)) for top in (LARGEST, EXPECTED))
    for number, z in enumerate(np.geomspace(*NOISE, count).tolist()):
        size = round(sizes[number])
        stretches = rng.choice([LONG, LONG, 3, PLAIN, 2, SHORT], size)
        losses, empty = np.full(size, NOTHING), rng.random(size) < 0.3
        stretches[-1] = LONG if number % 6 else PLAIN
        losses[-1], empty[-1] = (NOTHING, HIGH, LOW)[number % 3], number % 2
        dtype = (torch.float64, torch.float32)[number // 2 % 2]
        charged = (z, max(float(expected[number]), 4 * z), dtype)
        network = replace(DEEP, scale=SCALES[number // 3 % 3])
        yield unit(*charged, network), pictures(stretches, losses, empty, number)


def random(size: int, *key: streams.Key) -> Tensor:
    """Return standard normals of a key, in float64."""
    return torch.from_numpy(streams.rng("replay", *key).standard_normal(size))


@cache
def _directions(dtype: torch.dtype) -> Tensor:
    """Return orthonormal directions of the outputs, one a target, no axis among them."""
    made = torch.from_numpy(streams.rng("replay", "outputs").standard_normal((CLASSES, CLASSES)))
    return torch.linalg.qr(made).Q.to(dtype)
