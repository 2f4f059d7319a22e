"""A client of a run over a wire: its examples, its private steps, and what it keeps for itself."""

import secrets
from pathlib import Path

from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.base.files import atomic
from dpfl.contracts.federation import Visit
from dpfl.flower.party import Settings, build
from dpfl.flower.server import Orders
from dpfl.runs.finished import digest
from dpfl.training.checkpoint import packed, unpacked
from dpfl.training.job import Inputs


class Client:
    """The client of a number, from 0 on. UserError as from `build`, and for an unknown number.

    It keeps one file in `folder`, for these settings: its secret, its account, its counts of steps,
    its optimizer and what the rule keeps in the client. None of it is for the server. Whoever
    starts the run again meets the same account.
    """

    def __init__(self, settings: Settings, inputs: Inputs, number: int, folder: Path):
        self.number, self._file = number, folder / f"client-{number}-{digest(settings)}.pt"
        self._is_new = not self._file.exists()
        held = {"secret": secrets.token_hex(32), "files": {}}
        held = held if self._is_new else unpacked(self._file.read_bytes())
        self._secret, self._files = held["secret"], held["files"]
        parts, self._trainer = build(settings, inputs, self._secret)
        self._ledger = parts.ledger
        if number not in range(clients := len(parts.given.members)):
            raise UserError(f"client is {number}, must be in [0, {clients - 1}]")
        if self._is_new:
            self._keep()
        else:
            self._ledger.restore(held["ledger"])
            self._trainer.restore(held["trainer"], self._files)

    def visit(self, orders: Orders, server: Tensor) -> Tensor:
        """Take the steps of a round from the server's weights [D]; return those to send [D].

        Steps that were charged and not taken are left out. The file is written before anything is
        sent. UserError if the client's own account does not pay for the steps, or asks for more
        noise; if it took them before, or has lost its file.
        """
        if self._is_new and orders.before:
            raise UserError(f"{self._file}: lost, but {len(orders.before)} steps were charged")
        steps = self._trainer.steps_of(self.number)
        for noise in orders.before[steps.taken :]:
            self._ledger.charge(self.number, 1, noise)
        steps.skip_to(len(orders.before))
        visit = Visit(orders.round, self.number, server.to(self._trainer.flat.flat.device))
        sent = self._trainer.visit(visit, orders.steps, orders.noise_multiplier)
        self._files |= self._trainer.kept_by([self.number])
        self._keep()
        return sent.weights.clone()

    def _keep(self) -> None:
        """Write what the next round continues from."""
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        state = {"secret": self._secret, "files": self._files, "ledger": self._ledger.state()}
        with atomic(self._file) as temporary:
            temporary.write_bytes(packed(state | {"trainer": self._trainer.state()}))
