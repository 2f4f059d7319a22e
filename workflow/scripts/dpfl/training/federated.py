"""Federated training under local differential privacy (CAdabelief paper, figure 1; unit `example`).

The server sends its weights. Every participant takes local steps and returns its weights; the
server averages. A step privatises the gradient of a Poisson batch before anything else sees it.
"""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from dpfl.audit.canaries import Canaries
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.step import Public
from dpfl.training.steps import Batches, Ledger, PrivateSteps, cross_entropy, tell_noise

loss_fn = cross_entropy
QUANTILES = (0.05, 0.25, 0.50, 0.75, 0.95)


class Unlimited(Ledger):
    """The ledger of a non-private run: nothing is charged, remembered or learnt."""

    def affordable(self, client: int | str, steps: int) -> int:
        """Return all the steps asked for."""
        return steps

    def noise_multiplier(self, client: int | str) -> float:
        """Return no noise."""
        return 0.0

    def epsilon_spent(self) -> float:
        """Return infinity."""
        return math.inf

    def state(self) -> dict[Any, Any]:
        """Return nothing to remember."""
        return {}


@dataclass(frozen=True)
class Client:
    """One client: its examples, and the steps of its local training."""

    number: int
    examples: Batches
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


@dataclass(eq=False)
class Trainer:
    """Runs the rounds of one federated training on one flat model.

    `clients` builds the Client of a number on demand, so a round costs what its participants cost.
    `holder` builds the private steps of a client's number, once. They are its mechanism, whose
    clipping bound may follow its data, and its place in the streams.
    """

    flat: FlatModel
    clients: Callable[[int], Client]
    holder: Callable[[int], PrivateSteps]
    public: Public
    states: Any
    ledger: Ledger
    weighting: Callable[[int], float]
    holders: dict[int, PrivateSteps] = field(default_factory=dict, init=False)

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
            rules = self._steps_of(number).mechanism.clippings
            bounds += [rule.clip_norm for rule in rules if rule.state()][:1]
            examples += sum(self._steps(client, optimizer, paid, noise[-1]))
            weight = self.weighting(len(client.examples))
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

    @property
    def steps_taken(self) -> dict[int, int]:
        """Return the steps of every client that has taken any."""
        return {number: holder.taken for number, holder in self.holders.items() if holder.taken}

    def steps_since_reset(self) -> int:
        """Return the most steps that any client's optimizer has taken since its state was reset."""
        taken = self.steps_taken
        if self.states.forgets:
            taken = {c: min(n, self.clients(c).steps_per_round) for c, n in taken.items()}
        return max(taken.values(), default=0)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside weights and optimizers."""
        return {number: holder.state() for number, holder in self.holders.items()}

    def restore(self, state: dict[str, Any], optimizers: dict[str, Any]) -> None:
        """Continue from the state, and the optimizer states, of a checkpoint."""
        for number, kept in state.items():
            self._steps_of(number).restore(kept)
        self.states.restore(optimizers)

    def canaries(self) -> dict[int, Canaries]:
        """Return the canaries of every client that has some."""
        return {n: holder.canaries for n, holder in self.holders.items() if holder.canaries}

    def _steps_of(self, client: int) -> PrivateSteps:
        if client not in self.holders:
            self.holders[client] = self.holder(client)
        return self.holders[client]

    def _steps(
        self, client: Client, optimizer: torch.optim.Optimizer, steps: int, noise: float
    ) -> Iterator[int]:
        """Take local steps; yield the batch sizes."""
        holder = self._steps_of(client.number)
        for number in range(steps):
            released = holder.release(
                self.flat.model, client.examples, client.sample_rate, noise, self.public, number
            )
            self.flat.flat.grad = released.gradient
            tell_noise(optimizer, released.noise)
            optimizer.step()
            yield released.examples
        holder.end_round()


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
