"""Federated training that protects whole clients: DP-FedAvg (McMahan et al. 2018, 1710.06963).

Every round the server draws a Poisson sample of the clients. Each of them trains from the server's
weights, without noise, and hands back how far it came. The server clips these updates, adds noise
to their sum and moves its weights by the mean. So a round is one step: one Poisson-subsampled
Gaussian. Its unit is everything that a client holds.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch

from dpfl.audit.canaries import Canaries
from dpfl.base.errors import UserError
from dpfl.contracts.federation import FEDAVG, Cohort, Federation, Visit
from dpfl.contracts.protocols import ClientMechanism
from dpfl.contracts.schedule import SERVER
from dpfl.contracts.turn import Turn
from dpfl.draws import streams
from dpfl.factorizations.parts.streams import Stream
from dpfl.federations.parts.work import LocalWork
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.plain import gradient_of_sum
from dpfl.privacy.release import of_step, require_covered
from dpfl.training.federated import Round, added, changed, continue_rule, loss_fn
from dpfl.training.steps import Batches, Ledger, Sources, of_run, poisson, restore, state_of


@dataclass(eq=False)
class Trainer:
    """Runs the rounds of one federated training on one flat model.

    `clients` gives the examples of a client's number, so a round costs what its sample costs. A
    client starts every round with a new optimizer. Nothing but the weights and the clip norm
    outlives a round. Each of the `population` is sampled with probability `sample_rate`, in every
    round anew. Samples and noise are draws of `sources` for the round. Local batches are seeded in
    any case: whatever a client does locally costs no privacy.
    """

    flat: FlatModel
    clients: Callable[[int], Batches]
    population: int
    sample_rate: float
    work: LocalWork
    mechanism: ClientMechanism
    build_optimizer: Callable[[], torch.optim.Optimizer]
    ledger: Ledger
    sources: Sources
    watching: Canaries | None = None
    draw: Callable[[Turn], np.ndarray] | None = None
    """What draws cohorts otherwise than by Poisson."""
    stream: Stream | None = None
    rule: Federation = FEDAVG
    steps_taken: dict[str, int] = field(default_factory=dict, init=False)

    def __post_init__(self):
        if not 0 < self.sample_rate <= 1:
            raise UserError(f"sample_rate is {self.sample_rate}, must be in (0, 1]")

    def run_round(self, participants: Iterable[int] = ()) -> tuple[Round, dict[str, Any]] | None:
        """Run one round; return it, and that no optimizer's state changed.

        Who takes part is drawn here and secret. `participants`, drawn beforehand and public, are
        read only where the sampling is `public`. None, with nothing changed, if the budget does
        not pay for the round.
        """
        if not self.ledger.affordable(SERVER, 1):
            return None
        number, server = self.steps_taken.get(SERVER, 0), self.flat.get()
        noise_multiplier = self.ledger.noise_multiplier(SERVER)
        expected = self.sample_rate * self.population
        require_covered(of_step(self.mechanism, noise_multiplier, expected), noise_multiplier)
        self.ledger.charge(SERVER, 1, noise_multiplier)
        bounds = [rule.clip_norm for rule in self.mechanism.clippings if rule.state()]
        examples: list[int] = []
        sampled = {c: self.clients(c) for c in self._sample(number, list(participants)).tolist()}
        sizes = list(map(len, sampled.values()))
        draws = self.sources.draws(*self.sources.noise_key, SERVER, number)
        update = self.mechanism.aggregate(
            self._updates(sampled, server, number, examples),
            Cohort(server, expected, [*self.flat.parts.values()], sizes),
            noise_multiplier=noise_multiplier,
            normal=of_run(self.stream, draws.normal),
        )
        self.flat.set(self.rule.combine(number + 1, server, server + update))
        self.steps_taken[SERVER] = number + 1
        self.ledger.observe(update)
        done = Round(
            steps=1,
            examples=sum(examples),
            noise_multiplier=noise_multiplier,
            clip_norm=bounds[0] if bounds else None,
        )
        return done, changed(self.rule, sampled)

    def can_pay(self, rounds: list[np.ndarray]) -> bool:
        """Tell whether any of these rounds is paid."""
        return bool(rounds) and self.ledger.affordable(SERVER, 1) > 0

    def steps_since_reset(self) -> int:
        """Return 0: no optimizer sees noise here."""
        return 0

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint keeps beside the weights."""
        kept = {"steps_taken": self.steps_taken, **state_of(self.mechanism, self.watching)}
        return kept | ({"noise": self.stream.state()} if self.stream else {})

    def restore(self, state: dict[str, Any], optimizers: dict[str, Any]) -> None:
        """Continue from the state of a checkpoint; there are no optimizers to continue."""
        continue_rule(self.rule, optimizers)
        self.steps_taken = state["steps_taken"]
        if self.stream:
            self.stream.restore(state["noise"])
        restore(self.mechanism, self.watching, state)

    def canaries(self) -> dict[str, Canaries]:
        """Return the server's canaries, if there are some."""
        return {SERVER: self.watching} if self.watching else {}

    def _updates(
        self, sampled: dict[int, Batches], server: torch.Tensor, number: int, examples: list[int]
    ) -> Iterator[torch.Tensor]:
        """Yield each sampled client's update [D]; append how many examples it went through."""
        for client, held in sampled.items():
            visit = Visit(number + 1, client, server)
            self.flat.set(self.rule.start(visit))
            seen, steps, rate = self._train(visit, held)
            examples.append(seen)
            yield self.rule.end(visit, self.flat.flat.data, steps, rate) - server

    def _sample(self, number: int, known: list[int]) -> np.ndarray:
        """Return the clients of a round; `known` are those that were drawn in public."""
        key = (*self.sources.batch_key, "clients")
        if self.draw is None:
            draws = self.sources.draws(*key, number)
            return poisson(draws, self.population, self.sample_rate, self.watching)
        cohort, draws = round(self.sample_rate * self.population), partial(self.sources.draws, *key)
        chosen = self.draw(Turn(self.population, cohort, number, draws, known))
        if self.watching:
            self.watching.took(chosen, self.population, self.sample_rate)
        return chosen

    def _train(self, visit: Visit, examples: Batches) -> tuple[int, int, float]:
        """Train on a client's examples; return how many it went through, steps and rate."""
        optimizer, seen = self.build_optimizer(), 0
        rng = streams.rng(*self.sources.batch_key, "local", visit.client, visit.round - 1)
        batches = list(self.work.batches(len(examples), rng))
        for batch in batches:
            inputs, targets = examples[torch.from_numpy(batch)]
            for _ in range(getattr(optimizer, "gradients", 1)):
                gradient = gradient_of_sum(self.flat.model, loss_fn, inputs, targets)
                gradient.div_(len(batch))
                self.flat.flat.grad = added(gradient, self.rule, visit, self.flat.flat.data)
                optimizer.step()
            seen += len(batch)
        return seen, len(batches), optimizer.param_groups[0]["lr"]
