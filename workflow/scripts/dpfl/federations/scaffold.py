"""scaffold: control variates correct the steps of clients that differ (Karimireddy et al. 2020).

arXiv 1910.06378, algorithm 1 with option II. Each step adds c - c_i to the gradient, c being the
server's variate and c_i the client's. After K steps of rate eta from x to y

    c_i <- c_i - c + (x - y) / (K eta),        c <- c + sum_i (change of c_i) / M

over the clients of the round. Of DP-SCAFFOLD (Noble et al. 2022, arXiv 2111.09278) it is the part
beside the noise. Where only the mean of what clients send is released, the sum of changes is
m (-c + (x - mean) / (K eta)) with m the expected cohort, so that no second release is needed.
"""

import torch
from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import Federation, Setting, States, Visit

SETTINGS = {"rate": "number > 0"}


class Scaffold:
    """The variates of the server and of every client that has taken part, zero at first."""

    def __init__(self, setting: Setting, rate: float):
        self._setting, self._rate = setting, rate
        self._variates: dict[str, Tensor] = {}
        self._changes: list[Tensor] = []

    def term(self, visit: Visit, weights: Tensor) -> Tensor:
        """Return c - c_i [D]."""
        return self._of("server", weights) - self._of(f"client-{visit.client}", weights)

    def end(self, visit: Visit, weights: Tensor, steps: int, rate: float) -> Tensor:
        """Move c_i; return the weights."""
        name, reach = f"client-{visit.client}", self._setting.reach or steps * rate
        if not reach:  # a rate of 0 tells nothing
            return weights
        change = (visit.server - weights) / reach - self._of("server", weights)
        self._variates[name] = self._of(name, weights) + change
        if not self._setting.released_only:
            self._changes.append(change)
        return weights

    def combine(self, number: int, server: Tensor, mean: Tensor) -> Tensor:
        """Move c, and the weights by `rate` times what the mean differs.

        Where only the mean is released, c moves whoever took part, nobody included.
        """
        if self._setting.released_only and self._setting.reach:
            change = (server - mean) / self._setting.reach - self._of("server", server)
            self._changes = [change * self._setting.cohort]
        total = sum(self._changes, torch.zeros_like(server))
        self._variates["server"] = self._of("server", server) + total / self._setting.clients
        self._changes = []
        return mean if self._rate == 1 else server + self._rate * (mean - server)

    def state(self) -> States:
        """Return all variates."""
        return {name: {"variate": found} for name, found in self._variates.items()}

    def restore(self, states: States) -> None:
        """Continue from the state of a checkpoint."""
        self._variates = {name: found["variate"] for name, found in states.items()}

    def _of(self, name: str, like: Tensor) -> Tensor:
        return self._variates[name] if name in self._variates else torch.zeros_like(like)


@bounded(SETTINGS)
def build(setting: Setting, rate: float = 1.0) -> Federation:
    """Return the rule, `rate` that of the server; UserError unless it is finite and above 0.

    Also where only the mean is released, and clients need not take equally many steps.
    """
    if setting.released_only and setting.reach is None:
        raise UserError("scaffold: clients are protected, and take no fixed number of local steps")
    made = Scaffold(setting, float(rate))
    return Federation(
        term=made.term, end=made.end, combine=made.combine, state=made.state, restore=made.restore
    )
