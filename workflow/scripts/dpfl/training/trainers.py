"""The trainer of a run, by the unit that it protects: examples of clients, or whole clients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from dpfl import plugins
from dpfl.data import Dataset
from dpfl.flat import FlatModel
from dpfl.noise import SOURCES
from dpfl.planning import participation
from dpfl.protocols import ClientMechanism, Mechanism
from dpfl.step import Public
from dpfl.training import client_level, federated
from dpfl.training.federated import Client
from dpfl.training.states import STATES

WEIGHTINGS: dict[str, Callable[[Client], float]] = {
    "examples": lambda client: float(len(client.targets)),
    "uniform": lambda client: 1.0,
}


@dataclass(frozen=True)
class Parts:
    """What a trainer is built from.

    `members` gives the indices of a client's examples, `public` those of the public ones, `records`
    the calibration of everyone who adds noise (empty for a non-private run).
    """

    settings: dict[str, Any]
    key: tuple
    dataset: Dataset
    members: Sequence[np.ndarray]
    public: torch.Tensor
    flat: FlatModel
    build_optimizer: Callable[[], torch.optim.Optimizer]
    ledger: Any
    records: dict[int | str, dict]

    def mechanism(self) -> Mechanism | ClientMechanism:
        """Build the mechanism with the method's clipping."""
        own = dict(self.settings["mechanism"])
        return plugins.load("mechanisms", own.pop("estimator")).build(
            self.settings["clipping"], **own
        )

    def examples(self, members: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the inputs and targets of some training examples."""
        return self.dataset.train_inputs[members], self.dataset.train_targets[members]

    def held_by(self, client: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the inputs and targets of a client."""
        return self.examples(torch.from_numpy(self.members[client]))


def build(parts: Parts) -> Any:
    """Build the trainer for the unit of the settings."""
    return TRAINERS[parts.settings["unit"]](parts)


def _example_level(parts: Parts) -> federated.Trainer:
    federation = parts.settings["federation"]
    parts.mechanism()  # a mistake in its settings ends the run here, and its source is loaded

    def client(number: int) -> Client:
        """Return a client with the sample rate and steps that it was calibrated for."""
        inputs, targets = parts.held_by(number)
        planned = parts.records.get(number) or _unpriced(federation, number, len(targets))
        return Client(number, inputs, targets, planned["sample_rate"], planned["steps_per_round"])

    return federated.Trainer(
        flat=parts.flat,
        clients=client,
        build_mechanism=parts.mechanism,
        public=Public(*parts.examples(parts.public)),
        states=STATES[federation["state"]](parts.build_optimizer),
        ledger=parts.ledger,
        draws=SOURCES[parts.settings["noise"]],
        batch_key=(*parts.key, "batch"),
        noise_key=(*parts.key, "noise"),
        weighting=WEIGHTINGS[federation["weighting"]],
    )


def _unpriced(federation: dict, number: int, examples: int) -> dict[str, Any]:
    """Return the same steps for a non-private run, which has no calibration."""
    work = {k: federation[k] for k in ("local_epochs", "local_steps")}
    steps = participation.local_steps(examples, federation["batch_size"], **work, client=number)
    return {"sample_rate": federation["batch_size"] / examples, "steps_per_round": steps}


def _client_level(parts: Parts) -> client_level.Trainer:
    federation, population = parts.settings["federation"], len(parts.members)
    cohort = federation["clients_per_round"] or population
    work = {k: federation[k] for k in ("batch_size", "local_epochs", "local_steps")}
    return client_level.Trainer(
        flat=parts.flat,
        clients=parts.held_by,
        population=population,
        sample_rate=cohort / population,
        work=client_level.LocalWork(**work),
        mechanism=parts.mechanism(),
        build_optimizer=parts.build_optimizer,
        ledger=parts.ledger,
        draws=SOURCES[parts.settings["noise"]],
        batch_key=(*parts.key, "batch"),
        noise_key=(*parts.key, "noise"),
    )


TRAINERS = {"example": _example_level, "client": _client_level}
