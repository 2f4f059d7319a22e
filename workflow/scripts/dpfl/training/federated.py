"""Federated training under local differential privacy (CAdabelief paper, figure 1; unit `example`).

The server sends its weights. Every participant takes local steps and returns its weights; the
server averages. A step privatises the gradient of a Poisson batch before anything else sees it.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
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


@dataclass(frozen=True)
class Sent:
    """What a client sends after a visit, weights [D], and what the visit did.

    The weights may be those of the model, which the next visit changes. `bounds` has the first
    clipping bound that moves, if any; `rates` the per-coordinate rates, if any.
    """

    weights: torch.Tensor
    steps: int
    noise_multiplier: float
    examples: int = 0
    bounds: Sequence[float] = ()
    rates: Sequence[dict[str, float]] = ()


class Gathered:
    """What clients have sent in a round: a weighted sum [D], and counts of what they did."""

    def __init__(self, server: torch.Tensor):
        self.server = server
        self.clients: list[int] = []
        self._total, self._weights = torch.zeros_like(server), 0.0
        self._steps, self._examples = 0, 0
        self._noise: list[float] = []
        self._bounds: list[float] = []
        self._rates: list[dict[str, float]] = []

    def add(self, client: int, sent: Sent, weight: float) -> None:
        """Add what a client sent, which counts so much."""
        self._total.add_(sent.weights, alpha=weight)
        self._weights += weight
        self.clients.append(client)
        self._steps, self._examples = self._steps + sent.steps, self._examples + sent.examples
        self._noise.append(sent.noise_multiplier)
        self._bounds += sent.bounds
        self._rates += sent.rates

    def mean(self) -> torch.Tensor:
        """Return the weighted mean [D]; asked for once."""
        return self._total.div_(self._weights)

    def done(self) -> Round:
        """Return what the round did."""
        clip_norm = sum(self._bounds) / len(self._bounds) if self._bounds else None
        noise = sum(self._noise) / len(self._noise)
        return Round(self._steps, self._examples, _mean(self._rates), noise, clip_norm)


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
    """How many there were; rules draw public numbers by it."""

    def run_round(self, participants: list[int]) -> tuple[Round, dict[str, Any]] | None:
        """Run one round; return it with the optimizer states it changed.

        A client takes only the steps its budget still pays for. None, with nothing changed, if
        no participant can pay for one.
        """
        gathered = Gathered(self.flat.get())
        for number in participants:
            paid = self.paid(number)
            if paid:
                noise = self.ledger.noise_multiplier(number)
                sent = self.visit(Visit(self.rounds + 1, number, gathered.server), paid, noise)
                gathered.add(number, sent, self.weight(number))
        return self.end_round(gathered)

    def paid(self, number: int) -> int:
        """Return how many of a client's steps in a round its budget still pays for."""
        return self.ledger.affordable(number, self.clients(number).steps_per_round)

    def weight(self, number: int) -> float:
        """Return how much a client counts in the average."""
        return self.weighting(len(self.clients(number).examples))

    def visit(self, visit: Visit, steps: int, noise_multiplier: float) -> Sent:
        """Let a client take these steps from the server's weights; return what it sends."""
        client = self.clients(visit.client)
        self.flat.set(self.rule.start(visit))
        optimizer = self.states.begin(visit.client)
        rules = self.steps_of(visit.client).mechanism.clippings
        bounds = [rule.clip_norm for rule in rules if rule.state()][:1]
        examples = sum(self._steps(client, optimizer, steps, noise_multiplier, visit))
        rate = optimizer.param_groups[0]["lr"]
        whole = steps // getattr(optimizer, "gradients", 1)
        weights = self.rule.end(visit, self.flat.flat.data, whole, rate)
        self.states.end(visit.client, optimizer, self.weight(visit.client))
        return Sent(weights, steps, noise_multiplier, examples, bounds, _rates(optimizer))

    def end_round(self, gathered: Gathered) -> tuple[Round, dict[str, Any]] | None:
        """Move the server's weights; return the round as `run_round`, None if nobody trained."""
        if not gathered.clients:
            return None
        self.rounds, server, mean = self.rounds + 1, gathered.server, gathered.mean()
        self.flat.set(self.rule.combine(self.rounds, server, mean))
        self.ledger.observe(mean - server)
        return gathered.done(), self.kept_by(gathered.clients)

    def kept_by(self, trained: list[int]) -> dict[str, Any]:
        """Return what a round has changed of states, by the names of files."""
        return self.states.finish_round(trained) | changed(self.rule, trained)

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
            self.steps_of(number).restore(kept)
        self.states.restore({n: own for n, own in optimizers.items() if not n.startswith(RULE)})
        continue_rule(self.rule, optimizers)

    def canaries(self) -> dict[int, Canaries]:
        """Return the canaries of every client that has some."""
        return {n: holder.canaries for n, holder in self.holders.items() if holder.canaries}

    def steps_of(self, client: int) -> PrivateSteps:
        """Return a client's private steps, built when first asked for."""
        if client not in self.holders:
            self.holders[client] = self.holder(client)
        return self.holders[client]

    def _steps(
        self, client: Client, optimizer: Optimizer, steps: int, noise: float, visit: Visit
    ) -> Iterator[int]:
        """Take local steps; yield the batch sizes."""
        holder = self.steps_of(client.number)
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
