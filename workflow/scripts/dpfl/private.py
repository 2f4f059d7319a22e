"""Private training of a network of your own: `dpfl.Private`, over the path that the workflow takes.

private = dpfl.Private(model, optimizer, examples=(inputs, targets), epsilon=4, delta=1e-5,
                       batch_size=256, epochs=10)
while private.step():
    pass
print(private.epsilon())
"""

import secrets
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.utils.data import Dataset, default_collate

from dpfl import mechanisms, plugins
from dpfl.audit.audited import Around, audited
from dpfl.audit.canaries import Canaries
from dpfl.audit.findings import NOT_AUDITED, Terms, findings
from dpfl.errors import UserError
from dpfl.example_wise import require_example_wise
from dpfl.flat import joined
from dpfl.noise import SOURCES
from dpfl.planning.fitting import Parts, misfits, needs_public
from dpfl.planning.methods import named
from dpfl.privacy.calibration import Settings, calibrate
from dpfl.privacy.filter import Filter
from dpfl.privacy.ledger import Ledger
from dpfl.privacy.release import Release, Unproven, is_gaussian, of_step
from dpfl.protocols import Mechanism
from dpfl.step import Public
from dpfl.training import probe
from dpfl.training.steps import Batches, PrivateSteps, Sources, cross_entropy, tell_noise

HOLDER = 0
"""The one holder of all examples, in accounts and in streams."""
CANARIES, LEVEL = 1000, 0.05

Part = str | Mapping[str, Any]
"""A plug-in by the name of its file, or {"uses": name, setting: value, ...}."""


class Private:
    """Trains a network by private steps on the examples of one holder, within a budget.

    `examples` are inputs [n, ...] and targets [n], or a Dataset of such pairs; add or remove one of
    them is what (epsilon, delta) protects. Steps are `epochs` times n // batch_size, each on a
    Poisson batch of `batch_size` expected examples: nothing else may look at the examples. The
    `mechanism`, the `clipping` (a number stands for the rule `fixed` at that norm) and the `budget`
    are those of dpfl.mechanisms, dpfl.clippings and dpfl.privacy.budgets. `loss_fn(outputs,
    targets)` gives one loss per example [L]. `public` are examples that need no protection, for
    mechanisms that ask for some. With a `seed` runs repeat, and nothing is protected from whoever
    knows it; without one secrets come from the system's entropy. `audit` puts canaries into the
    batches: see `audit()`.

    The optimizer's parameters must be the model's. UserError for settings that are out of bounds or
    do not go together, for a network that mixes the examples of a batch, and for a mechanism
    that draws less noise than it promises.
    """

    def __init__(
        self,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        *,
        examples: tuple[Tensor, Tensor] | Dataset,
        epsilon: float,
        delta: float,
        batch_size: int,
        epochs: int,
        mechanism: Part = "dpsgd",
        clipping: float | Mapping[str, Any] = 1.0,
        budget: Part = "uniform",
        accountant: str = "pld",
        loss_fn: Callable[[Tensor, Tensor], Tensor] = cross_entropy,
        public: tuple[Tensor, Tensor] | None = None,
        seed: int | None = None,
        audit: bool = False,
    ):
        self.model, self.optimizer = model, optimizer
        self._examples = _batches(examples)
        self._parts = _parts(mechanism, clipping, public)
        self._delta = delta
        settings = Settings.read(
            {
                "epsilon": epsilon,
                "delta": delta,
                "accountant": accountant,
                "budget": named("budget", _entry(budget)),
                "federation": {"batch_size": batch_size, "rounds": epochs, "local_epochs": 1},
                "participation_key": ["private"],
            }
        )
        content = calibrate(settings, np.zeros(len(self._examples), np.int32))
        self.plan = content["clients"][HOLDER]
        """The calibration: sample_rate, steps, noise_multipliers and epsilon by epoch."""
        self._ledger = (Filter if "filter" in self.plan else Ledger)(content)
        self._public = _public(public, self._examples)
        self._expected = self.plan["sample_rate"] * len(self._examples)
        require_example_wise(model, self._examples[torch.arange(2)][0], type(model).__name__)
        self._steps = self._build(loss_fn, _sources(seed), audit)
        self._before = self._weights()

    def _build(self, loss_fn: Callable, sources: Sources, audit: bool) -> PrivateSteps:
        """Build the steps, after the checks that a run of the workflow starts with."""
        estimator, z = self._parts["mechanism"]["estimator"], min(self.plan["noise_multipliers"])
        nobody = self._examples[torch.empty(0, dtype=torch.long)]
        mechanism, canaries = self._mechanism(), None
        self._promised = of_step(mechanism, z, self._expected)
        if isinstance(self._promised, Release):
            step = probe.example_step(
                self.model, loss_fn, nobody, z, self._expected, self._public, sources
            )
            probe.require_noise(estimator, self._mechanism, step, z, sources)
        if audit:
            key = (*sources.noise_key, "audit")
            canaries = Canaries(CANARIES, CANARIES * is_gaussian(self._promised), key)
            if not plugins.constant("mechanisms", estimator, "OWN_GRADIENTS"):
                mechanism = audited(self._mechanism, canaries)
        even = plugins.constant("mechanisms", estimator, "NOISE_IS_Z_C")
        return PrivateSteps(HOLDER, mechanism, self._ledger, sources, loss_fn, canaries, even)

    def _mechanism(self, around: Around | None = None) -> Mechanism:
        return mechanisms.of(self._parts, around)

    @property
    def steps(self) -> int:
        """Return how many steps are planned and paid."""
        return self.plan["paid_steps"]

    @property
    def taken(self) -> int:
        """Return how many steps were taken."""
        return self._steps.taken

    def step(self) -> bool:
        """Take one private step of the optimizer; False, with nothing done, if none is paid."""
        if not self._ledger.affordable(HOLDER, 1):
            return False
        each = self.plan["steps_per_round"]
        released = self._steps.release(
            self.model,
            self._examples,
            self.plan["sample_rate"],
            self._ledger.noise_multiplier(HOLDER),
            self._public,
            self._steps.taken % each,
        )
        _put(self.model, released.gradient)
        tell_noise(self.optimizer, released.noise)
        self.optimizer.step()
        if self._steps.taken % each == 0:
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

        Exact after whole epochs and after the last step, else that of the epoch in progress.
        """
        unproven = isinstance(self._promised, Unproven)
        return self._promised if unproven else self._ledger.epsilon_spent()

    def audit(self) -> dict[str, Any]:
        """Return what the canaries found so far: a lower bound on epsilon, checks, blind spots.

        As in dpfl.audit.findings; its bound is wrong with a chance of `level` at most.
        """
        if self._steps.canaries is None:
            return NOT_AUDITED
        blind = plugins.constant("mechanisms", self._parts["mechanism"]["estimator"], "BLIND")
        terms = Terms(is_gaussian(self._promised), self._delta, LEVEL, blind)
        return findings({HOLDER: self._steps.canaries}, terms)


class _Tensors:
    """Inputs [n, ...] and targets [n] as batches."""

    def __init__(self, inputs: Tensor, targets: Tensor):
        if len(inputs) != len(targets):
            raise UserError(f"examples: {len(inputs)} inputs, but {len(targets)} targets")
        self._inputs, self._targets = inputs, targets

    def __len__(self) -> int:
        return len(self._targets)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        chosen = chosen.to(self._targets.device)
        return self._inputs[chosen], self._targets[chosen]


class _Fetched:
    """A Dataset of (input, target) pairs as batches, each example fetched anew."""

    def __init__(self, dataset: Dataset):
        self._dataset = dataset

    def __len__(self) -> int:
        return len(self._dataset)

    def __getitem__(self, chosen: Tensor) -> tuple[Tensor, Tensor]:
        numbers = chosen.tolist() or [0]  # for the shapes of an empty batch
        inputs, targets = default_collate([self._dataset[number] for number in numbers])
        return inputs[: len(chosen)], targets[: len(chosen)]


def _batches(examples: tuple[Tensor, Tensor] | Dataset) -> _Tensors | _Fetched:
    return _Tensors(*examples) if isinstance(examples, tuple) else _Fetched(examples)


def _entry(part: Part) -> dict[str, Any]:
    return {"uses": part} if isinstance(part, str) else dict(part)


def _parts(mechanism: Part, clipping: float | Mapping[str, Any], public: Any) -> Parts:
    """Return the settings of mechanism and clipping; UserError if they do not go together."""
    fixed = isinstance(clipping, int | float)
    rule = {"uses": "fixed", "clip_norm": float(clipping)} if fixed else dict(clipping)
    parts = {
        "mechanism": named("mechanism", _entry(mechanism)),
        "clipping": named("clipping", rule),
    }
    estimator = parts["mechanism"]["estimator"]
    if plugins.constant("mechanisms", estimator, "UNIT") != "example":
        raise UserError(f"mechanism: {estimator} protects clients; expected one for examples")
    for found in misfits(parts):
        raise UserError(f"mechanism: {estimator} {found}")
    if needs_public(parts["mechanism"]) and public is None:
        raise UserError(f"public: {estimator} uses public examples; expected inputs and targets")
    return parts


def _public(public: tuple[Tensor, Tensor] | None, examples: Batches) -> Public:
    return Public(*(public or examples[torch.empty(0, dtype=torch.long)]))


def _sources(seed: int | None) -> Sources:
    """Return seeded draws, or secret ones whose key nobody has."""
    kind, key = ("secure", secrets.token_hex(32)) if seed is None else ("seeded", seed)
    return Sources(SOURCES[kind], (key, "batch"), (key, "noise"))


def _put(model: nn.Module, gradient: Tensor) -> None:
    """Give every parameter its part of a gradient, flat [D]."""
    parameters = list(model.parameters())
    parts = gradient.split([p.numel() for p in parameters])
    for p, part in zip(parameters, parts, strict=True):
        p.grad = part.view_as(p).clone()
