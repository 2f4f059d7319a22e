"""What every client has spent, and what it may still spend: the step over budget is not taken."""

from typing import TYPE_CHECKING, Any

from dpfl.base.errors import UserError

if TYPE_CHECKING:
    from torch import Tensor


class Ledger:
    """Steps charged to each client of a calibration (see dpfl.privacy.calibration).

    The noise of every round is fixed beforehand, so counting paid steps IS the accounting. No step
    beyond `paid_steps` is ever paid, none at less noise than planned. The epsilon of a count is
    read from the calibrated curve. The curve begins with what is released before the first step.
    """

    def __init__(self, calibration: dict[str, Any]):
        self._clients = {str(record["client"]): record for record in calibration["clients"]}
        self._charged: dict[str, int] = {}
        self._released: set[tuple[str, str]] = set()

    def charge_release(self, client: int | str, name: str, noise_multiplier: float) -> None:
        """Record what a client releases of all its examples before its first step, once by name.

        Its price is in the calibrated curve from the beginning. UserError, and nothing recorded,
        for a release that is not planned, of less noise than planned, or made before. A run that
        continues makes the same release again, with the same draws.
        """
        record = self._clients[str(client)]
        planned = {r["name"]: r["noise_multiplier"] for r in record.get("releases", ())}
        if name not in planned:
            listed = ", ".join(planned) or "none is"
            raise UserError(f"release {name!r} of client {client} is not planned; {listed}")
        if noise_multiplier < planned[name]:
            raise UserError(
                f"noise_multiplier of release {name!r} of client {client} is {noise_multiplier}, "
                f"must be >= {planned[name]} (calibrated)"
            )
        if (str(client), name) in self._released:
            raise UserError(f"release {name!r} of client {client} was made before; paid is one")
        self._released.add((str(client), name))

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
        if not noise_multiplier >= planned:  # NaN is none
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
        known = {*self._charged, *(client for client, _ in self._released)}
        return max(map(self._epsilon, known), default=0.0)

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
        participations = -(-self._charged.get(client, 0) // record["steps_per_round"])
        return (
            record["spent"][participations - 1] if participations else record.get("released", 0.0)
        )
