"""Federated training under local differential privacy (CAdabelief paper, figure 1; unit `example`).

The server sends its weights; every participant takes local steps, each on a Poisson batch whose
gradient is privatised before anything else sees it, and returns its weights; the server averages.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch.nn import functional

from dpfl import streams
from dpfl.flat import FlatModel
from dpfl.noise import Draws
from dpfl.privacy.release import of_step, require_covered
from dpfl.protocols import ClippingRule, Mechanism
from dpfl.step import Public, Step

loss_fn = partial(functional.cross_entropy, reduction="none")
QUANTILES = (0.05, 0.25, 0.50, 0.75, 0.95)


class Ledger(Protocol):
    """What training asks of the accounts: dpfl.privacy's Ledger and Filter, or Unlimited."""

    def affordable(self, client: int | str, steps: int) -> int: ...
    def noise_multiplier(self, client: int | str) -> float: ...
    def charge(self, client: int | str, steps: int, noise_multiplier: float) -> None: ...
    def observe(self, update: torch.Tensor) -> None: ...
    def epsilon_spent(self) -> float: ...


class Unlimited:
    """The ledger of a non-private run."""

    def affordable(self, client: int | str, steps: int) -> int:
        """Return all the steps asked for."""
        return steps

    def noise_multiplier(self, client: int | str) -> float:
        """Return no noise."""
        return 0.0

    def charge(self, client: int | str, steps: int, noise_multiplier: float) -> None:
        """Nothing to charge."""

    def observe(self, update: torch.Tensor) -> None:
        """Nothing to learn from a released update."""

    def epsilon_spent(self) -> float:
        """Return infinity."""
        return math.inf

    def state(self) -> dict[int, int]:
        """Return nothing to remember."""
        return {}

    def restore(self, state: dict[int, int]) -> None:
        """Nothing to continue from."""


@dataclass(frozen=True)
class Client:
    """One client: its examples and what a step of its local training is."""

    number: int
    inputs: torch.Tensor
    targets: torch.Tensor
    sample_rate: float
    steps_per_round: int


@dataclass(frozen=True)
class Round:
    """What a round did: counts over all participants, and their per-coordinate rates if any.

    `noise_multiplier` and, of mechanisms that move it, `clip_norm` are means over participants.
    """

    steps: int
    examples: int
    rates: dict[str, float] | None = None
    noise_multiplier: float | None = None
    clip_norm: float | None = None


class Trainer:
    """Runs the rounds of one federated training on one flat model.

    `clients` builds the Client of a number on demand, so that a round costs what its
    participants cost. Each has a mechanism of its own, whose clipping bound may follow its data.
    With seeded `draws`, batches and noise come from streams of (key, client, step): equal batches
    for every method, and nothing to store in a checkpoint but step counts and bounds.
    """

    def __init__(
        self,
        flat: FlatModel,
        clients: Callable[[int], Client],
        build_mechanism: Callable[[], Mechanism],
        public: Public,
        states: Any,
        ledger: Ledger,
        draws: type[Draws],
        batch_key: tuple,
        noise_key: tuple,
        weighting: Callable[[Client], float],
    ):
        self.flat, self.clients, self.public = flat, clients, public
        self.mechanisms: dict[int, Mechanism] = defaultdict(build_mechanism)
        self.states, self.ledger, self.draws = states, ledger, draws
        self.batch_key, self.noise_key, self.weighting = batch_key, noise_key, weighting
        self.steps_taken: dict[int, int] = {}

    def run_round(self, participants: list[int]) -> tuple[Round, dict[str, Any]] | None:
        """Run one round; return it with the optimizer states it changed.

        A client takes only the steps its budget still pays for. None, with nothing changed, if
        no participant can pay for one.
        """
        server = self.flat.get()
        total, weights, steps, examples = torch.zeros_like(server), 0.0, 0, 0
        rates: list[dict[str, float]] = []
        noise, bounds, trained = [], [], []
        for number in participants:
            client = self.clients(number)
            paid = self.ledger.affordable(number, client.steps_per_round)
            if not paid:
                continue
            self.flat.set(server)
            optimizer = self.states.begin(number)
            noise.append(self.ledger.noise_multiplier(number))
            bounds += [rule.clip_norm for rule in self._moving(number)[:1]]
            examples += sum(self._steps(client, optimizer, paid, noise[-1]))
            weight = self.weighting(client)
            total.add_(self.flat.flat.data, alpha=weight)
            self.states.end(number, optimizer, weight)
            rates += _rates(optimizer)
            trained.append(number)
            weights, steps = weights + weight, steps + paid
        if not trained:
            return None
        self.flat.set(total.div_(weights))
        self.ledger.observe(total - server)
        clip_norm = sum(bounds) / len(bounds) if bounds else None
        done = Round(steps, examples, _mean(rates), sum(noise) / len(noise), clip_norm)
        return done, self.states.finish_round(trained)

    def can_pay(self, rounds: list[np.ndarray]) -> bool:
        """Tell whether any participant of these rounds has a paid step left."""
        return any(self.ledger.affordable(int(c), 1) for c in set(np.concatenate([[], *rounds])))

    def steps_since_reset(self) -> int:
        """Return the most steps that any client's optimizer has taken since its state was reset."""
        taken = self.steps_taken
        return max(
            (
                min(taken[c], self.clients(c).steps_per_round) if self.states.forgets else taken[c]
                for c in taken
            ),
            default=0,
        )

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside weights and optimizers."""
        bounds = {c: [rule.state() for rule in self._moving(c)] for c in self.mechanisms}
        return {"steps_taken": self.steps_taken, "clippings": bounds}

    def restore(self, state: dict[str, Any], optimizers: dict[str, Any]) -> None:
        """Continue from the state, and the optimizer states, of a checkpoint."""
        self.steps_taken = state["steps_taken"]
        for client, bounds in state["clippings"].items():
            for rule, bound in zip(self._moving(client), bounds, strict=True):
                rule.restore(bound)
        self.states.restore(optimizers)

    def _moving(self, client: int) -> list[ClippingRule]:
        """Return a client's clipping rules whose bounds move."""
        return [rule for rule in self.mechanisms[client].clippings if rule.state()]

    def _steps(
        self, client: Client, optimizer: torch.optim.Optimizer, steps: int, noise: float
    ) -> Iterator[int]:
        """Take local steps, each charged before it is released; yield the batch sizes."""
        mechanism, first = self.mechanisms[client.number], self.steps_taken.get(client.number, 0)
        expected = client.sample_rate * len(client.targets)
        require_covered(of_step(mechanism, noise, expected), noise)
        for number, step in enumerate(range(first, first + steps)):
            batch = self._poisson_batch(client, step)
            self.ledger.charge(client.number, 1, noise)
            self.flat.flat.grad = mechanism.estimate(
                Step(
                    model=self.flat.model,
                    loss_fn=loss_fn,
                    inputs=client.inputs[batch],
                    targets=client.targets[batch],
                    noise_multiplier=noise,
                    expected_batch=expected,
                    normal=self.draws(*self.noise_key, client.number, step).normal,
                    public=self.public,
                    public_rng=partial(streams.rng, *self.batch_key, "public", client.number, step),
                    number=number,
                )
            )
            optimizer.step()
            self.steps_taken[client.number] = step + 1
            yield len(batch)
        if hasattr(mechanism, "forget"):
            mechanism.forget()

    def _poisson_batch(self, client: Client, step: int) -> torch.Tensor:
        """Return the indices of a batch in which every example is with the sample rate."""
        uniform = self.draws(*self.batch_key, client.number, step).uniform(len(client.targets))
        chosen = np.flatnonzero(uniform < client.sample_rate)
        return torch.from_numpy(chosen).to(client.targets.device)


def _rates(optimizer: torch.optim.Optimizer) -> list[dict[str, float]]:
    """Describe an optimizer's per-coordinate rates and how many of them its bounds clip."""
    if not hasattr(optimizer, "coordinate_rates"):
        return []
    rates, low, high = optimizer.coordinate_rates()
    quantiles = torch.quantile(rates.float(), torch.tensor(QUANTILES, device=rates.device))
    names = [f"q{int(100 * q):02d}" for q in QUANTILES]
    return [
        {
            "low": low,
            "high": high,
            **dict(zip(names, quantiles.tolist(), strict=True)),
            "clipped_below": float((rates < low).float().mean()),
            "clipped_above": float((rates > high).float().mean()),
        }
    ]


def _mean(rows: list[dict[str, float]]) -> dict[str, float] | None:
    if not rows:
        return None
    return {key: sum(row[key] for row in rows) / len(rows) for key in rows[0]}
