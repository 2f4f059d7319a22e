"""The trainer of a run, by the unit that it protects: examples of clients, or whole clients."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch

from dpfl import mechanisms, plugins
from dpfl.audit.audited import Around, audited
from dpfl.audit.canaries import Canaries
from dpfl.data import Dataset
from dpfl.errors import UserError
from dpfl.flat import FlatModel
from dpfl.planning import participation
from dpfl.privacy.filter import greatest_noise
from dpfl.privacy.release import Release, Unproven, is_gaussian
from dpfl.privacy.schedule import SERVER
from dpfl.protocols import ClientMechanism, Mechanism
from dpfl.step import Public
from dpfl.training import client_level, federated, probe
from dpfl.training.federated import Client
from dpfl.training.states import STATES
from dpfl.training.steps import PrivateSteps, Sources

WEIGHTINGS: dict[str, Callable[[Client], float]] = {
    "examples": lambda client: float(len(client.examples)),
    "uniform": lambda client: 1.0,
}


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
class Parts:
    """What a trainer is built from.

    `members` gives the indices of a client's examples, `public` those of the public ones, `records`
    the calibration of everyone who adds noise (empty for a non-private run).
    """

    settings: dict[str, Any]
    dataset: Dataset
    members: Sequence[np.ndarray]
    public: torch.Tensor
    flat: FlatModel
    build_optimizer: Callable[[], torch.optim.Optimizer]
    ledger: Any
    records: dict[int | str, dict]
    sources: Sources

    def mechanism(self, around: Around | None = None) -> Mechanism | ClientMechanism:
        """Build the mechanism with the method's clipping, its rules wrapped by `around`."""
        return mechanisms.of(self.settings, around)

    def watched(self, holder: int | str, holders: int) -> tuple[Any, Canaries | None]:
        """Build the mechanism of one of the holders, and the canaries in its batches, if any."""
        audit = self.settings["audit"]
        if not self.records or not audit["canaries"]:
            return self.mechanism(), None
        records = -(-audit["canaries"] // holders)
        tossed = audit["canaries"] if is_gaussian(self.released) else 0
        key = (*self.sources.noise_key, "audit", holder)
        canaries = Canaries(records, tossed, key, audit["length"])
        if plugins.constant("mechanisms", self.estimator, "OWN_GRADIENTS"):
            return self.mechanism(), canaries
        return audited(self.mechanism, canaries, self.clip_norm), canaries

    @property
    def noise_multipliers(self) -> list[float]:
        """Return the planned noise of everyone in all rounds."""
        return [z for record in self.records.values() for z in record["noise_multipliers"]]

    @property
    def released(self) -> Release | Unproven:
        """Return what a step releases where noise is least."""
        return mechanisms.released(self.settings, min(self.noise_multipliers))

    @property
    def clip_norm(self) -> float:
        """Return the bound that the method's clipping begins with."""
        return self.settings["clipping"]["clip_norm"]

    @property
    def estimator(self) -> str:
        """Return the name of the mechanism's file."""
        return self.settings["mechanism"]["estimator"]

    def examples(self, members: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the inputs and targets of some training examples."""
        return self.dataset.of_training(members)

    def held_by(self, client: int) -> Held:
        """Return the examples of a client."""
        return Held(self.dataset, torch.from_numpy(self.members[client]))


def build(parts: Parts) -> Any:
    """Build the trainer for the unit of the settings.

    UserError if a mechanism with a proof draws less noise than it promises.
    """
    parts.mechanism()  # a mistake in its settings ends the run here
    trainer, probed = UNITS[parts.settings["unit"]]
    if parts.records:  # so does one that shows where noise is greatest, in a late round
        mechanisms.released(parts.settings, greatest_noise(parts.records.values()))
    if parts.records and isinstance(parts.released, Release):
        z = min(parts.noise_multipliers)
        release = probed(parts, z)
        build = partial(audited, parts.mechanism, clip_norm=parts.clip_norm)
        probe.require_noise(parts.estimator, build, release, z, parts.sources)
    return trainer(parts)


def _probed_step(parts: Parts, z: float) -> probe.OnNobody:
    return probe.example_step(
        parts.flat.model,
        federated.loss_fn,
        parts.examples(torch.empty(0, dtype=torch.long)),
        z,
        parts.settings["federation"]["batch_size"],
        Public(*parts.examples(parts.public)),
        parts.sources,
    )


def _probed_round(parts: Parts, z: float) -> probe.OnNobody:
    cohort = parts.settings["federation"]["clients_per_round"] or len(parts.members)
    return probe.client_round(parts.flat.get(), z, cohort)


def _example_level(parts: Parts) -> federated.Trainer:
    federation = parts.settings["federation"]
    parts.mechanism()  # a mistake in its settings ends the run here, and its source is loaded

    def client(number: int) -> Client:
        """Return a client with the sample rate and steps that it was calibrated for."""
        examples = parts.held_by(number)
        planned = parts.records.get(number) or _unpriced(federation, number, len(examples))
        return Client(number, examples, planned["sample_rate"], planned["steps_per_round"])

    declared = plugins.constant("mechanisms", parts.estimator, "NOISE_IS_Z_C")
    even_noise = declared or not parts.records  # without privacy there is none anywhere

    def holder(number: int) -> PrivateSteps:
        """Return a client's steps, with its part of the canaries."""
        mechanism, canaries = parts.watched(number, len(parts.members))
        return PrivateSteps(
            number,
            mechanism,
            parts.ledger,
            parts.sources,
            canaries=canaries,
            even_noise=even_noise,
        )

    return federated.Trainer(
        flat=parts.flat,
        clients=client,
        holder=holder,
        public=Public(*parts.examples(parts.public)),
        states=STATES[federation["state"]](parts.build_optimizer),
        ledger=parts.ledger,
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
    planned = parts.records.get(SERVER, {}).get("sample_rate", cohort / population)
    if planned != cohort / population:
        raise UserError(
            f"clients: {cohort} of {population} are drawn, but the calibration is for a rate of "
            f"{planned:g}"
        )
    mechanism, canaries = parts.watched(SERVER, 1)
    return client_level.Trainer(
        flat=parts.flat,
        clients=parts.held_by,
        population=population,
        sample_rate=cohort / population,
        work=client_level.LocalWork(**work),
        mechanism=mechanism,
        build_optimizer=parts.build_optimizer,
        ledger=parts.ledger,
        sources=parts.sources,
        canaries=canaries,
    )


UNITS = {
    "example": (_example_level, _probed_step),
    "client": (_client_level, _probed_round),
}
