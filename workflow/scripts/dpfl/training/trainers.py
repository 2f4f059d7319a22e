"""The trainer of a run, by the unit that it protects: examples of clients, or whole clients."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import torch

from dpfl import federations, mechanisms, plugins
from dpfl.audit.canaries import Canaries
from dpfl.audit.turns import Turns
from dpfl.base.errors import UserError
from dpfl.clients import participation
from dpfl.clients.assignment import Members
from dpfl.contracts.federation import Federation, Setting
from dpfl.contracts.schedule import SERVER
from dpfl.contracts.turn import Turn
from dpfl.data import Dataset
from dpfl.draws import streams
from dpfl.factorizations import Factorization
from dpfl.factorizations.parts.streams import Stream
from dpfl.federations.parts.states import STATES
from dpfl.federations.parts.work import WEIGHTINGS, LocalWork
from dpfl.gradients.flat import FlatModel
from dpfl.gradients.step import Public
from dpfl.privacy import calibration_settings
from dpfl.training import client_level, federated, probe
from dpfl.training.federated import Client
from dpfl.training.holders import Holders
from dpfl.training.steps import Ledger, PrivateSteps, Sources


@dataclass(frozen=True)
class Held:
    """The training examples of one client: Batches that copy what is asked for and no more."""

    dataset: Dataset
    members: torch.Tensor

    def __len__(self) -> int:
        return len(self.members)

    def __getitem__(self, chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.dataset.of_training(self.members[chosen])


@dataclass(frozen=True)
class Examples:
    """A data set on the run's device, and who has which of its training examples, by number.

    `seen` are the ones that training accuracy and loss are measured on.
    """

    dataset: Dataset
    members: Members
    public: torch.Tensor
    validation: torch.Tensor
    seen: torch.Tensor


@dataclass(frozen=True)
class Parts:
    """What a trainer is built from.

    `records` are the calibration of everyone who adds noise (empty for a non-private run).
    """

    settings: dict[str, Any]
    given: Examples
    flat: FlatModel
    build_optimizer: Callable[[], torch.optim.Optimizer]
    ledger: Ledger
    records: dict[int | str, dict]
    sources: Sources

    @property
    def draw(self) -> Callable[[Turn], np.ndarray] | None:
        """Return what draws batches, or cohorts; None by Poisson."""
        sampling = calibration_settings.sampling_of(self.settings)["sampling"]
        if sampling == "poisson":
            return None
        found = plugins.load("samplings", sampling)
        if not hasattr(found, "draw"):
            raise UserError(f"sampling {sampling} has a price, expected draw(turn) in its file too")
        groups = self.factorization.bands if self.factorization else None
        return lambda turn: found.draw(replace(turn, groups=groups))

    @property
    def stream(self) -> Stream | None:
        """Return what makes noise of the whole run, anew for everyone who adds some."""
        return self.factorization.stream() if self.factorization and self.records else None

    @cached_property
    def factorization(self) -> Factorization | None:
        """Return how the noise of the run is correlated, if it is."""
        own = dict(self.settings["federation"].get("factorization") or {})
        return Factorization(own.pop("uses"), own) if own else None

    @property
    def holders(self) -> Holders:
        """Return what builds the mechanism of everyone who adds noise."""
        expected = mechanisms.expected(self.settings)
        return Holders(self.settings, expected, self.records.values(), self.sources)

    def canaries(self, holder: int | str, holders: int) -> Canaries | None:
        """Return the canaries in the batches of one of the holders, if any."""
        audit = self.settings["audit"]
        if not self.records or not audit["canaries"]:
            return None
        length, all_of = audit["length"], audit["canaries"]
        each = -(-all_of // holders)
        if self.draw is None:
            return self.holders.canaries(each, all_of, holder, length=length)
        given = {"turns": self._turns(holder)}
        if self.factorization:  # what they show is kept, step by step
            given["made_of"], all_of = self.factorization.made_of, each
        return self.holders.canaries(0, all_of, holder, length=length, **given)

    def _turns(self, holder: int | str) -> Turns:
        """Return how the batches, or cohorts, of a holder are drawn, and what that costs."""
        from dpfl import samplings  # accountants, which take a second to import

        told = calibration_settings.sampling_of(self.settings)
        sampling, plan = told["sampling"], samplings.Plan(**self.records[holder]["plan"])
        noise = dict(told.get("factorization", {}))
        name, known = noise.pop("uses", None), plugins.constant("samplings", sampling, "BEFOREHAND")

        def price(z: float, steps: int, often: int) -> float:
            at = samplings.Plan(plan.sample_rate, z, steps, often if known else None)
            at = samplings.correlated(sampling, at, name, noise) if name else at
            return samplings.attained(sampling, at, self.settings["delta"])

        gap = plan.groups or samplings.batches_of_an_epoch(plan) if name else 1
        return Turns(price, samplings.turns(sampling, plan), gap, plan.groups or 1)

    def examples(self, members: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the inputs and targets of some training examples."""
        return self.given.dataset.of_training(members)

    @property
    def public(self) -> Public:
        """Return the public examples."""
        return Public(*self.examples(self.given.public))

    @property
    def participants(self) -> list[np.ndarray]:
        """Return who takes part in each round; where that is secret, it is not read."""
        federation = self.settings["federation"]
        return participation.draw(
            len(self.given.members),
            federation["clients_per_round"],
            federation["rounds"],
            streams.rng(*streams.pairing_key(self.settings), "participation"),
        )

    def held_by(self, client: int) -> Held:
        """Return the examples of a client."""
        return Held(self.given.dataset, torch.from_numpy(self.given.members[client]))


def build(parts: Parts) -> Any:
    """Build the trainer for the unit of the settings.

    UserError if a mechanism with a proof draws less noise than it promises.
    """
    trainer, probed = UNITS[parts.settings["unit"]]
    parts.holders.require_noise(partial(probed, parts))
    return trainer(parts)


def _probed_step(parts: Parts, z: float) -> probe.OnNobody:
    nobody = parts.examples(torch.empty(0, dtype=torch.long))
    given = (z, parts.settings["federation"]["batch_size"], parts.public, parts.sources)
    return probe.example_step(parts.flat.model, federated.loss_fn, nobody, *given)


def _probed_round(parts: Parts, z: float) -> probe.OnNobody:
    cohort = parts.settings["federation"]["clients_per_round"] or len(parts.given.members)
    return probe.client_round(parts.flat.get(), z, cohort)


def _example_level(parts: Parts) -> federated.Trainer:
    federation = parts.settings["federation"]

    def client(number: int) -> Client:
        """Return a client with the sample rate and steps that it was calibrated for."""
        examples = parts.held_by(number)
        planned = parts.records.get(number) or _unpriced(federation, number, len(examples))
        return Client(number, examples, planned["sample_rate"], planned["steps_per_round"])

    def holder(number: int) -> PrivateSteps:
        """Return a client's steps, with its part of the canaries."""
        canaries = parts.canaries(number, len(parts.given.members))
        steps = parts.holders.steps(number, parts.ledger, canaries=canaries)
        return replace(steps, draw=parts.draw, stream=parts.stream)

    return federated.Trainer(
        flat=parts.flat,
        clients=client,
        holder=holder,
        public=parts.public,
        states=STATES[federation["state"]](parts.build_optimizer),
        ledger=parts.ledger,
        weighting=WEIGHTINGS[federation["weighting"]],
        rule=_rule(parts, released_only=False),
    )


def _unpriced(federation: dict, number: int, examples: int) -> dict[str, Any]:
    """Return the same steps for a non-private run, which has no calibration."""
    work = {k: federation[k] for k in ("local_epochs", "local_steps")}
    steps = participation.local_steps(examples, federation["batch_size"], **work, client=number)
    return {"sample_rate": federation["batch_size"] / examples, "steps_per_round": steps}


def _client_level(parts: Parts) -> client_level.Trainer:
    federation, population = parts.settings["federation"], len(parts.given.members)
    cohort = federation["clients_per_round"] or population
    work = {k: federation[k] for k in ("batch_size", "local_epochs", "local_steps")}
    planned = parts.records.get(SERVER, {}).get("sample_rate", cohort / population)
    if planned != cohort / population:
        raise UserError(
            f"clients: {cohort} of {population} are drawn, but the calibration is for a rate of "
            f"{planned:g}"
        )
    canaries = parts.canaries(SERVER, 1)
    return client_level.Trainer(
        flat=parts.flat,
        clients=parts.held_by,
        population=population,
        sample_rate=cohort / population,
        work=LocalWork(**work),
        mechanism=parts.holders.watched(canaries),
        build_optimizer=parts.build_optimizer,
        ledger=parts.ledger,
        sources=parts.sources,
        watching=canaries,
        draw=parts.draw,
        stream=parts.stream,
        rule=_rule(parts, released_only=True),
    )


def _rule(parts: Parts, *, released_only: bool) -> Federation:
    """Build the rule of the federation; UserError for settings that do not fit the network."""
    clients = len(parts.given.members)
    cohort = parts.settings["federation"]["clients_per_round"] or clients
    key = (*streams.pairing_key(parts.settings), "rule")
    rng, steps = partial(streams.rng, *key), parts.settings["federation"]["local_steps"]
    reach = steps * parts.settings["optimizer"]["rate"] if steps and released_only else None
    setting = Setting(clients, cohort, released_only, parts.flat.parts, rng, reach)
    return federations.build(parts.settings, setting)


UNITS = {
    "example": (_example_level, _probed_step),
    "client": (_client_level, _probed_round),
}
