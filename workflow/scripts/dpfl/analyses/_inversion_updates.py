"""The updates that the analysis `inversion` attacks: plain, clipped, and released with noise."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from dpfl.clients import participation
from dpfl.clippings import fixed
from dpfl.contracts.protocols import Mechanism
from dpfl.draws import streams
from dpfl.draws.noise import Seeded
from dpfl.gradients.step import Public, Step
from dpfl.mechanisms.dpsgd import DPSGD
from dpfl.mechanisms.nonprivate import NonPrivate
from dpfl.privacy.search import noise_multiplier

loss_fn = partial(functional.cross_entropy, reduction="none")


@dataclass(frozen=True)
class Release:
    """What a client sends of one step: by which mechanism, at which noise, for which epsilon."""

    name: str
    mechanism: Mechanism
    noise_multiplier: float
    epsilon: float

    def updates(
        self, model: nn.Module, pictures: Tensor, labels: Tensor, key: tuple[streams.Key, ...]
    ) -> Tensor:
        """Return the updates [U, D] of batches [U, b, C, H, W], the denominator b.

        Noise is drawn by `key` and the number of the batch: releases share it, each at its scale.
        """
        batches = enumerate(zip(pictures, labels, strict=True))
        return torch.stack([self._update(model, *batch, (*key, i)) for i, batch in batches])

    def _update(
        self, model: nn.Module, inputs: Tensor, targets: Tensor, key: tuple[streams.Key, ...]
    ) -> Tensor:
        step = Step(
            model=model,
            loss_fn=loss_fn,
            inputs=inputs,
            targets=targets,
            noise_multiplier=self.noise_multiplier,
            expected_batch=len(inputs),
            normal=Seeded(*key).normal,
            public=Public(inputs[:0], targets[:0]),
            public_rng=partial(streams.rng, *key),
        )
        return self.mechanism.estimate(step)


@dataclass(frozen=True)
class Work:
    """What a client's noise has to last for: its sampling rate, and steps in all rounds."""

    sample_rate: float
    steps: int

    @classmethod
    def of(cls, federation: dict[str, int], examples: int) -> "Work":
        """Return the work of a client of so many examples: one local epoch a round."""
        batch = federation["batch_size"]
        steps = participation.local_steps(examples, batch, local_epochs=1)
        return cls(batch / examples, steps * federation["rounds"])


def releases(settings: dict[str, Any], work: Work) -> Iterator[Release]:
    """Yield the plain gradient, the clipped one, and dpsgd's by falling epsilon."""
    clipped = DPSGD(fixed.build(settings["clip_norm"]))
    yield Release("plain", NonPrivate(), 0.0, math.inf)
    yield Release("clipped", clipped, 0.0, math.inf)
    for epsilon in reversed(settings["epsilons"]):
        noise = noise_multiplier(work.sample_rate, work.steps, epsilon, settings["delta"])
        yield Release("private", clipped, noise, epsilon)
