"""The server of a run over a wire: whom it asks, what it charges, and what becomes of answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from dpfl import federations, plugins
from dpfl.training.evaluation import score
from dpfl.training.federated import Gathered, Sent, Trainer
from dpfl.training.summary import ASSUMES
from dpfl.training.trainers import Parts


@dataclass(frozen=True)
class Orders:
    """What a client is told: its paid steps of a round and their noise.

    `before` has the noise multiplier of each of its steps that were charged before.
    """

    round: int
    client: int
    before: list[float]
    steps: int
    noise_multiplier: float


class Server:
    """The weights and the account of a run; it takes part in no client's steps.

    Steps are charged in full before a client is asked: whoever then drops out may have released
    them. So the account is that of the simulation, whoever drops out.
    """

    def __init__(self, parts: Parts, trainer: Trainer):
        self.parts, self.trainer, self.participants = parts, trainer, parts.participants
        self.charged: dict[int, list[float]] = {}
        """The noise multiplier of every charged step, by client."""
        self.dropped: list[dict[str, Any]] = []
        self.replaced: list[int] = []
        """Clients whose number another node said to have."""
        self._round = 0
        self._asked: dict[int, Orders] = {}

    @property
    def weights(self) -> Tensor:
        """Return the weights [D]."""
        return self.trainer.flat.get()

    def begin(self, number: int) -> dict[int, Orders]:
        """Begin a round, from 1 on; return what its clients are told.

        Returns {} if nobody can pay, or if the weights are no longer finite.
        """
        self._round, self._asked = number, {}
        if self.weights.isfinite().all():
            for client in map(int, self.participants[number - 1]):
                if steps := self.trainer.paid(client):
                    self._asked[client] = self._charge(client, steps)
        return self._asked

    def end(self, sent: Mapping[int, Tensor], why: Mapping[int, str]) -> list[str]:
        """End the round with the weights [D] that clients sent; return a line for each that failed.

        `why` has the reasons that are known.
        """
        gathered, before = Gathered(self.weights), len(self.dropped)
        for client, orders in self._asked.items():
            weights = sent.get(client)
            if weights is not None and weights.shape == gathered.server.shape:
                given = (weights.to(gathered.server), orders.steps, orders.noise_multiplier)
                gathered.add(client, Sent(*given), self.trainer.weight(client))
            else:
                told = {"round": self._round, "client": client, "steps": orders.steps}
                self.dropped.append(told | {"why": why.get(client, "no answer")})
        self.trainer.end_round(gathered)
        return [
            f"round {one['round']}: client {one['client']} dropped out, "
            f"{one['steps']} steps are charged: {one['why']}"
            for one in self.dropped[before:]
        ]

    def account(self) -> dict[str, Any]:
        """Return what was charged, who dropped out, and what the certificate assumes.

        `unproven` has the reasons for which the mechanism has no certificate.
        """
        records, settings = self.parts.records, self.parts.settings
        released = self.parts.holders.released if records else None
        charged = {str(client): len(own) for client, own in sorted(self.charged.items())}
        return {
            "steps_charged": charged,
            "epsilon_spent": self.parts.ledger.epsilon_spent() if records else "inf",
            "certificate_assumes": ASSUMES[settings["noise"]] if records else None,
            "unproven": list(getattr(released, "reasons", ())),
            "dropped": self.dropped,
            "replaced": self.replaced,
        }

    def accuracy(self) -> float | None:
        """Return that of the server's weights on the test set; None where layers are personal."""
        rule = federations.rule_of(self.parts.settings)
        if plugins.constant("federations", rule, "PERSONAL"):
            return None
        dataset = self.parts.given.dataset
        found, _ = score(self.trainer.flat.model, dataset.test_inputs, dataset.test_targets)
        return found

    def _charge(self, client: int, steps: int) -> Orders:
        """Charge step by step, as the simulation does."""
        ledger, before = self.parts.ledger, self.charged.get(client, [])
        noise = ledger.noise_multiplier(client)
        for _ in range(steps):
            ledger.charge(client, 1, noise)
        self.charged[client] = [*before, *[noise] * steps]
        return Orders(self.trainer.rounds + 1, client, before, steps, noise)
