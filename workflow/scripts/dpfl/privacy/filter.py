"""The ledger of the adaptive budget: noise chosen while training, kept within a Renyi filter.

Progress is read from released updates alone. The order and the bound of the filter were fixed
beforehand. The step that would exceed the bound is not taken. This is fully adaptive composition
(Feldman and Zrnic 2021, arXiv 2008.11193).
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor

from dpfl.base.errors import UserError


def greatest_noise(records: Iterable[dict[str, Any]]) -> float:
    """Return the greatest noise multiplier that any round of some clients plans or may choose."""
    records = list(records)
    chosen = [noise for r in records if "filter" in r for noise, _ in r["filter"]["levels"]]
    return max(chosen + [noise for r in records for noise in r["noise_multipliers"]])


class Filter:
    """Renyi divergence charged to each client of a calibration whose records have a `filter`."""

    def __init__(self, calibration: dict[str, Any]):
        self._clients = {str(record["client"]): record for record in calibration["clients"]}
        self._spent: dict[str, float] = {}
        self._steps: dict[str, int] = {}
        self._last: Tensor | None = None
        self._agree: bool | None = None

    def noise_multiplier(self, client: int | str) -> float:
        """Return the noise of the client's next round: its share of what is left, by progress."""
        record, rule = self._clients[str(client)], self._rule(client)
        done = self._steps.get(str(client), 0) // record["steps_per_round"]
        left = max(1, len(record["rounds"]) - done)
        saves = "save" if self._agree else "spend"
        factor = 1.0 if left == 1 or self._agree is None else rule[saves]
        share = min(1.0, factor / left) * self._left(client) / record["steps_per_round"]
        costs = [-cost for _, cost in rule["levels"]]  # the noise rises, its cost falls
        level = min(bisect_left(costs, -share), len(costs) - 1)
        return rule["levels"][level][0]

    def affordable(self, client: int | str, steps: int) -> int:
        """Return how many of these next steps are paid, at the noise of the next round."""
        return max(0, min(steps, int(self._left(client) // self._cost(client, None))))

    def charge(self, client: int | str, steps: int, noise_multiplier: float) -> None:
        """Record steps at this noise; UserError, and nothing recorded, if they are not paid."""
        cost = steps * self._cost(client, noise_multiplier)
        # The bound was set a relative 1e-9 below the budget: sums may round.
        if steps < 0 or cost > self._left(client) + 1e-12 * self._rule(client)["budget"]:
            raise UserError(
                f"Renyi divergence of client {client} would grow by {cost:.6g}, must be at most "
                f"{self._left(client):.6g} (what is left)"
            )
        self._spent[str(client)] = self._spent.get(str(client), 0.0) + cost
        self._steps[str(client)] = self._steps.get(str(client), 0) + steps

    def observe(self, update: Tensor) -> None:
        """Take note of a released update [D]: does it point the way of the one before?"""
        if self._last is not None:
            cosine = torch.nn.functional.cosine_similarity(update, self._last, dim=0)
            rules = [record["filter"] for record in self._clients.values() if record["rounds"]]
            self._agree = bool(cosine > rules[0]["agreement"])
        self._last = update.clone()

    def epsilon_spent(self) -> float:
        """Return the largest epsilon of any client so far; clients hold disjoint examples."""
        return max((self._epsilon(client) for client in self._spent), default=0.0)

    def state(self) -> dict[str, Any]:
        """Return what a checkpoint needs."""
        return {
            "spent": dict(self._spent),
            "steps": dict(self._steps),
            "last": self._last,
            "agree": self._agree,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Continue from a checkpoint."""
        self._spent, self._steps = dict(state["spent"]), dict(state["steps"])
        self._last, self._agree = state["last"], state["agree"]

    def _rule(self, client: int | str) -> dict[str, Any]:
        return self._clients[str(client)]["filter"]

    def _left(self, client: int | str) -> float:
        return self._rule(client)["budget"] - self._spent.get(str(client), 0.0)

    def _cost(self, client: int | str, noise_multiplier: float | None) -> float:
        """Return the Renyi divergence of a step at a level of noise."""
        wanted = self.noise_multiplier(client) if noise_multiplier is None else noise_multiplier
        for noise, cost in self._rule(client)["levels"]:
            if noise == wanted:
                return cost
        raise UserError(f"noise_multiplier is {wanted}, must be a level that was priced")

    def _epsilon(self, client: str) -> float:
        spent, rule = self._spent[client], self._rule(client)
        return spent + rule["offset"] if spent else 0.0
