"""What every client has spent, and what it may still spend: the step over budget is not taken."""

from typing import TYPE_CHECKING, Any

from dpfl.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


class Ledger:
    """Steps charged to each client of a calibration (see dpfl.privacy.calibration).

    The noise of every round is fixed beforehand, so counting paid steps IS the accounting: no step
    beyond `paid_steps` is ever paid, none at less noise than planned, and the epsilon of a count
    is read from the calibrated curve.
    """

    def __init__(self, calibration: dict[str, Any]):
        self._clients = {str(record["client"]): record for record in calibration["clients"]}
        self._charged: dict[str, int] = {}

    def noise_multiplier(self, client: int | str) -> float:
        """Return the noise of the client's next step, that of its last round if none is left."""
        return self._planned(client, 1)

    def affordable(self, client: int | str, steps: int) -> int:
        """Return how many of these next steps are paid."""
        paid = self._clients[str(client)]["paid_steps"]
        return max(0, min(steps, paid - self._charged.get(str(client), 0)))

    def charge(self, client: int | str, steps: int, noise_multiplier: float) -> None:
        """Record steps at this noise; UserError, and nothing recorded, if they are not paid."""
        if not 0 <= steps <= self.affordable(client, steps):
            left = self.affordable(client, self._clients[str(client)]["paid_steps"])
            raise UserError(f"steps of client {client} is {steps}, must be in [0, {left}] (paid)")
        planned = self._planned(client, steps)
        if noise_multiplier < planned:
            raise UserError(
                f"noise_multiplier of client {client} is {noise_multiplier}, must be >= {planned} "
                "(calibrated)"
            )
        self._charged[str(client)] = self._charged.get(str(client), 0) + steps

    def observe(self, update: "Tensor") -> None:
        """Nothing to learn from a released update: the plan stands."""

    def epsilon_spent(self) -> float:
        """Return the largest epsilon of any client so far; clients hold disjoint examples.

        Exact after whole participations and after the last paid step, else that of the next one.
        """
        return max((self._epsilon(client) for client in self._charged), default=0.0)

    def state(self) -> dict[str, int]:
        """Return the steps charged to each client, for a checkpoint."""
        return dict(sorted(self._charged.items()))

    def restore(self, state: dict[str, int]) -> None:
        """Replace all charges by those of a checkpoint; UserError if they were never paid."""
        for client, steps in state.items():
            paid = self._clients[client]["paid_steps"]
            if not 0 <= steps <= paid:
                raise UserError(f"steps of client {client} is {steps}, must be in [0, {paid}]")
        self._charged = dict(state)

    def _planned(self, client: int | str, steps: int) -> float:
        """Return the largest noise planned for these next steps."""
        record = self._clients[str(client)]
        first = self._charged.get(str(client), 0)
        each, noise = record["steps_per_round"], record["noise_multipliers"]
        last = min((first + max(1, steps) - 1) // each, len(noise) - 1)
        return max(noise[min(first // each, last) : last + 1])

    def _epsilon(self, client: str) -> float:
        record = self._clients[client]
        participations = -(-self._charged[client] // record["steps_per_round"])
        return record["spent"][participations - 1] if participations else 0.0
