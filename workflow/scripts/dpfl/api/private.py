"""Private training of a network of your own: `dpfl.Private`, over the path that the workflow takes.

private = dpfl.Private(model, optimizer, examples=(inputs, targets), epsilon=4, delta=1e-5,
                       batch_size=256, epochs=10)
while private.step():
    pass
print(private.epsilon())
"""

import os
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor, nn

from dpfl import mechanisms
from dpfl.api import fitness, private_parts, private_sources
from dpfl.api.given_examples import Given, batches
from dpfl.api.own_gradients import require_own_gradients
from dpfl.api.private_parts import Part
from dpfl.audit.canaries import NOT_AUDITED, Terms
from dpfl.audit.findings import findings
from dpfl.base.errors import UserError
from dpfl.contracts.release import Unproven
from dpfl.gradients.example_wise import require_example_wise
from dpfl.gradients.flat import joined
from dpfl.gradients.layout import channels_last
from dpfl.gradients.step import Public
from dpfl.plugins import bounds
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.privacy.filter import Filter
from dpfl.privacy.ledger import Ledger
from dpfl.privacy.release import is_gaussian
from dpfl.training import probe
from dpfl.training.holders import Holders
from dpfl.training.steps import Batches, PrivateSteps, Sources, cross_entropy, tell_noise

HOLDER = 0
"""The one holder of all examples, in accounts and in streams."""
CANARIES, LEVEL = 1000, 0.05
_TRIED = 8  # examples that the network and the loss are tried on

_ONE_NOISE = "as two that go on from one step would draw the same noise; make a new one"

BOUNDS = {
    "epsilon": "number > 0",
    "delta": "number in (0, 1)",
    "batch_size": "whole >= 1",
    "epochs": "whole >= 1",
    "seed": "null or whole >= 0",
}


class Private:
    """Trains a network by private steps on the examples of one holder, within a budget.

    `examples` are inputs [n, ...] and targets [n], or a Dataset of such pairs. Adding or removing
    one of them is what (epsilon, delta) protects. Batches go to the model's device. Steps are
    `epochs` times n // batch_size, each on a Poisson batch of `batch_size` expected examples.
    Nothing else may look at the examples. `mechanism`, `clipping` and `budget` are those of
    dpfl.mechanisms, dpfl.clippings and dpfl.privacy.budgets. A number as `clipping` stands for the
    rule `fixed` at that norm. `loss_fn(outputs, targets)` gives one loss per example [L], or a
    scalar, which is slower: it is taken example by example. `public` are examples that need no
    protection, for mechanisms that ask for some. With a `seed` the run repeats, and nothing is
    protected from whoever knows it. Without one, secrets come from the system's entropy. A seed is
    for one run. If two runs of it are changed by hand while they train (a schedule of rates, say),
    they share noise. Then the difference of their steps has none. `audit` puts canaries into the
    batches: see `audit()`.

    The optimizer holds the model's parameters, all of them and no others, and its step() needs no
    closure. UserError otherwise, and for settings that are out of bounds or do not go together.
    Also for a network or a loss that mixes the examples of a batch. Also for a mechanism that draws
    less noise than it promises.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        examples: Given,
        epsilon: float,
        delta: float,
        batch_size: int,
        epochs: int,
        mechanism: Part = "dpsgd",
        clipping: float | Part = 1.0,
        budget: Part = "uniform",
        accountant: str = "pld",
        loss_fn: Callable[[Tensor, Tensor], Tensor] = cross_entropy,
        public: Given | None = None,
        seed: int | None = None,
        audit: bool = False,
    ):
        given = {"epsilon": epsilon, "delta": delta, "batch_size": batch_size}
        bounds.check("Private", BOUNDS, {**given, "epochs": epochs, "seed": seed})
        fitness.require_trains(model, optimizer)
        self.model, self.optimizer = model, optimizer
        device = next(model.parameters()).device
        fitness.require_full_precision(device)
        self._examples = batches(examples, device, "examples")
        self._parts = private_parts.of_method(mechanism, clipping, public)
        private_parts.require_known_noise(self._parts, optimizer)
        self._delta, self._process = delta, os.getpid()
        settings = _settings(given, epochs, accountant, budget)
        content = calibrate(settings, np.zeros(len(self._examples), np.int32))
        self.plan = content["clients"][HOLDER]
        """The calibration: sample_rate, steps, noise_multipliers and epsilon by epoch."""
        self._ledger = (Filter if "filter" in self.plan else Ledger)(content)
        self._public = _public(public, self._examples, device)
        self._expected = self.plan["sample_rate"] * len(self._examples)
        self._steps = self._build(loss_fn, self._sources(loss_fn, seed, settings), audit)
        self._before = self._weights()
        self._paid, self._noise = 0, 0.0
        """Of the epoch in progress: how many of its steps are paid, and at what noise."""

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: two of them would draw one noise on two sums."""
        raise UserError(f"Private: it cannot be copied or pickled, {_ONE_NOISE}")

    def _sources(self, loss_fn: Callable, seed: int | None, settings: Settings) -> Sources:
        """Return the streams of secrets, once network and loss take a few examples."""
        tried = torch.arange(min(_TRIED, len(self._examples)))
        _require_own(self.model, loss_fn, *self._examples[tried])
        seen = private_sources.seen(self.model, self.optimizer, loss_fn, self._public)
        return private_sources.draws(seed, {**settings.asked(), **self._parts}, seen)

    def _build(self, loss_fn: Callable, sources: Sources, audit: bool) -> PrivateSteps:
        """Build the steps, after the checks that a run of the workflow starts with."""
        holders = Holders(self._parts, self._expected, [self.plan], sources)
        nobody = self._examples[torch.empty(0, dtype=torch.long)]

        def probed(z: float) -> probe.OnNobody:
            given = (self._expected, self._public, sources)
            return probe.example_step(self.model, loss_fn, nobody, z, *given)

        holders.require_noise(probed)
        self._promised = holders.released
        canaries = holders.canaries(CANARIES, CANARIES) if audit else None
        return holders.steps(HOLDER, self._ledger, loss_fn, canaries)

    @property
    def steps(self) -> int:
        """Return how many steps are planned and paid."""
        return self.plan["paid_steps"]

    @property
    def taken(self) -> int:
        """Return how many steps were taken."""
        return self._steps.taken

    def step(self) -> bool:
        """Take one private step of the optimizer; False, with nothing done, if none is left.

        UserError in a process that was forked from the one in which this was made.
        """
        if os.getpid() != self._process:
            raise UserError(f"Private: it cannot go on in a forked process, {_ONE_NOISE}")
        each = self.plan["steps_per_round"]
        number = self.taken % each
        if self.taken >= self.steps:
            return False
        if number == 0:
            self._paid = self._ledger.affordable(HOLDER, each)
            self._noise = self._ledger.noise_multiplier(HOLDER)
        if number >= self._paid:
            return False
        released = self._steps.release(
            self.model,
            self._examples,
            self.plan["sample_rate"],
            self._noise,
            self._public,
            number,
        )
        _put(self.model, released.gradient)
        tell_noise(self.optimizer, released.noise)
        self.optimizer.step()
        if number + 1 == each:
            self._end_epoch()
        return True

    def _end_epoch(self) -> None:
        """Let the budget see how far the released weights came, and the mechanism forget."""
        self._steps.end_round()
        self._ledger.observe(self._weights() - self._before)
        self._before = self._weights()

    def _weights(self) -> Tensor:
        return joined(p.detach() for p in self.model.parameters())

    def epsilon(self) -> float | Unproven:
        """Return the epsilon spent at delta, or why none is proven.

        Exact after whole epochs and after the last step, else that of the epoch in progress. Proven
        where what ended the steps owes nothing to the run. Who stops because of what the run showed
        has spent plan["epsilon"].
        """
        unproven = isinstance(self._promised, Unproven)
        return self._promised if unproven else self._ledger.epsilon_spent()

    def audit(self) -> dict[str, Any]:
        """Return what the canaries found so far: a lower bound on epsilon, checks, blind spots.

        As in dpfl.audit.findings; its bound is wrong with a chance of `level` at most.
        """
        if self._steps.canaries is None:
            return NOT_AUDITED
        blind = mechanisms.blind(self._parts)
        terms = Terms(is_gaussian(self._promised), self._delta, LEVEL, blind)
        return findings({HOLDER: self._steps.canaries}, terms)


def _require_own(
    model: nn.Module, loss_fn: Callable[[Tensor, Tensor], Tensor], inputs: Tensor, targets: Tensor
) -> None:
    """UserError unless outputs, losses and gradients of examples are those of each one alone."""
    name = type(model).__name__
    with fitness.told_of(f"model {name} on inputs {fitness.kind(inputs)}"), torch.no_grad():
        require_example_wise(model, inputs, name)
        outputs = model(channels_last(inputs))
    fitness.require_own_losses(loss_fn, outputs, targets)
    require_own_gradients(model, loss_fn, inputs, targets, name)


def _settings(given: dict[str, Any], epochs: int, accountant: str, budget: Part) -> Settings:
    """Return what the noise is calibrated for: the one holder of all examples takes every round."""
    return Settings.read(
        {
            "epsilon": given["epsilon"],
            "delta": given["delta"],
            "accountant": accountant,
            "budget": private_parts.of_budget(budget),
            "federation": {"batch_size": given["batch_size"], "rounds": epochs, "local_epochs": 1},
            "participation_key": ["private"],
        }
    )


def _public(public: Given | None, examples: Batches, device: torch.device) -> Public:
    """Return all of the public examples; none of the examples if there are none."""
    known = examples if public is None else batches(public, device, "public")
    return Public(*known[torch.arange(0 if public is None else len(known))])


def _put(model: nn.Module, gradient: Tensor) -> None:
    """Give every parameter its part of a gradient, flat [D]."""
    parameters = list(model.parameters())
    parts = gradient.split([p.numel() for p in parameters])
    for p, part in zip(parameters, parts, strict=True):
        p.grad = part.view_as(p).clone()
