"""What every client has spent, and what it may still spend: the step over budget is not taken."""

from typing import Any

from dpfl.errors import UserError


class Ledger:
    """Steps charged to each client of a calibration (see dpfl.privacy.calibration).

    The noise is fixed beforehand, so counting paid steps IS the accounting: no step beyond
    `paid_steps` is ever paid, and the epsilon of a count is read from the calibrated curve.
    """

    def __init__(self, calibration: dict[str, Any]):
        self._clients = {record["client"]: record for record in calibration["clients"]}
        self._charged: dict[int, int] = {}

    def affordable(self, client: int, steps: int) -> int:
        """Return how many of these next steps are paid."""
        paid = self._clients[client]["paid_steps"]
        return max(0, min(steps, paid - self._charged.get(client, 0)))

    def charge(self, client: int, steps: int) -> None:
        """Record steps taken; UserError, and nothing recorded, if they are not paid."""
        if not 0 <= steps <= self.affordable(client, steps):
            left = self.affordable(client, self._clients[client]["paid_steps"])
            raise UserError(f"steps of client {client} is {steps}, must be in [0, {left}] (paid)")
        self._charged[client] = self._charged.get(client, 0) + steps

    def epsilon_spent(self) -> float:
        """Return the largest epsilon of any client so far; clients hold disjoint examples.

        Exact after whole participations and after the last paid step, else that of the next one.
        """
        return max((self._epsilon(client) for client in self._charged), default=0.0)

    def state(self) -> dict[str, int]:
        """Return the steps charged to each client, for a checkpoint."""
        return {str(client): steps for client, steps in sorted(self._charged.items())}

    def restore(self, state: dict[str, int]) -> None:
        """Replace all charges by those of a checkpoint; UserError if they were never paid."""
        self._charged = {}
        for client, steps in state.items():
            self.charge(int(client), steps)

    def _epsilon(self, client: int) -> float:
        record = self._clients[client]
        participations = -(-self._charged[client] // record["steps_per_round"])
        return record["spent"][participations - 1] if participations else 0.0
