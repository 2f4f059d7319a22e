"""Federated training under local differential privacy (CAdabelief paper, figure 1; unit `example`).

The server sends its weights. Every participant takes local steps and returns its weights; the
server averages. A step privatises the gradient of a Poisson batch before anything else sees it.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from dpfl.audit.canaries import Canaries
from dpfl.contracts.federation import FEDAVG, Federation, Visit
from dpfl.contracts.protocols import Optimizer
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.step import Public
from dpfl.training.steps import Batches, Ledger, PrivateSteps, cross_entropy, tell_noise

loss_fn = cross_entropy
RULE = "rule-"
"""What the names of files in a checkpoint begin with that keep the state of a rule."""
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
    rule: Federation = FEDAVG
    holders: dict[int, PrivateSteps] = field(default_factory=dict, init=False)
    rounds: int = field(default=0, init=False)
    """How many have been begun; rules draw public numbers by it."""

    def run_round(self, participants: list[int]) -> tuple[Round, dict[str, Any]] | None:
        """Run one round; return it with the optimizer states it changed.

        A client takes only the steps its budget still pays for. None, with nothing changed, if
        no participant can pay for one.
        """
        server = self.flat.get()
        self.rounds += 1
        total, weights, steps, examples = torch.zeros_like(server), 0.0, 0, 0
        rates: list[dict[str, float]] = []
        noise, bounds, trained = [], [], []
        for number in participants:
            client = self.clients(number)
            paid = self.ledger.affordable(number, client.steps_per_round)
            if not paid:
                continue
            visit = Visit(self.rounds, number, server)
            self.flat.set(self.rule.start(visit))
            optimizer = self.states.begin(number)
            noise.append(self.ledger.noise_multiplier(number))
            rules = self._steps_of(number).mechanism.clippings
            bounds += [rule.clip_norm for rule in rules if rule.state()][:1]
            examples += sum(self._steps(client, optimizer, paid, noise[-1], visit))
            weight = self.weighting(len(client.examples))
            rate = optimizer.param_groups[0]["lr"]
            whole = paid // getattr(optimizer, "gradients", 1)
            total.add_(self.rule.end(visit, self.flat.flat.data, whole, rate), alpha=weight)
            self.states.end(number, optimizer, weight)
            rates += _rates(optimizer)
            trained.append(number)
            weights, steps = weights + weight, steps + paid
        if not trained:
            return None
        mean = total.div_(weights)
        self.flat.set(self.rule.combine(self.rounds, server, mean))
        self.ledger.observe(mean - server)
        clip_norm = sum(bounds) / len(bounds) if bounds else None
        done = Round(steps, examples, _mean(rates), sum(noise) / len(noise), clip_norm)
        return done, self.states.finish_round(trained) | changed(self.rule, trained)

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
        held = {number: holder.state() for number, holder in self.holders.items()}
        return {"rounds": self.rounds, "holders": held}

    def restore(self, state: dict[str, Any], optimizers: dict[str, Any]) -> None:
        """Continue from the state of a checkpoint, and what it keeps by client and server."""
        self.rounds = state["rounds"]
        for number, kept in state["holders"].items():
            self._steps_of(number).restore(kept)
        self.states.restore({n: own for n, own in optimizers.items() if not n.startswith(RULE)})
        continue_rule(self.rule, optimizers)

    def canaries(self) -> dict[int, Canaries]:
        """Return the canaries of every client that has some."""
        return {n: holder.canaries for n, holder in self.holders.items() if holder.canaries}

    def _steps_of(self, client: int) -> PrivateSteps:
        if client not in self.holders:
            self.holders[client] = self.holder(client)
        return self.holders[client]

    def _steps(
        self, client: Client, optimizer: Optimizer, steps: int, noise: float, visit: Visit
    ) -> Iterator[int]:
        """Take local steps; yield the batch sizes."""
        holder = self._steps_of(client.number)
        for number in range(steps):
            released = holder.release(
                self.flat.model, client.examples, client.sample_rate, noise, self.public, number
            )
            self.flat.flat.grad = added(released.gradient, self.rule, visit, self.flat.flat.data)
            tell_noise(optimizer, released.noise)
            optimizer.step()
            yield released.examples
        if hasattr(optimizer, "settle"):  # its last step may not be whole
            optimizer.settle()
        holder.end_round()


def added(
    gradient: torch.Tensor, rule: Federation, visit: Visit, weights: torch.Tensor
) -> torch.Tensor:
    """Return a gradient [D] with what the rule adds to it at these weights, if anything."""
    term = rule.term(visit, weights)
    return gradient if term is None else gradient + term


def changed(rule: Federation, trained: Iterable[int]) -> dict[str, Any]:
    """Return what a rule keeps of the server and of those who trained, by the names of files."""
    whose = {"server", *(f"client-{number}" for number in trained)}
    return {f"{RULE}{name}": own for name, own in rule.state().items() if name in whose}


def continue_rule(rule: Federation, kept: dict[str, Any]) -> None:
    """Continue a rule from the files of a checkpoint."""
    rule.restore({n.removeprefix(RULE): own for n, own in kept.items() if n.startswith(RULE)})


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
