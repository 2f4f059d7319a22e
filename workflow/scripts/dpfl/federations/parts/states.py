"""What becomes of a client's optimizer state between rounds: `persist`, `reset` or `server`.

All optimizers act on the same flat tensor, since one model serves every client in turn.
"""

from collections.abc import Callable
from typing import Any

import torch

Build = Callable[[], torch.optim.Optimizer]


class Reset:
    """Every client starts every round with a new optimizer."""

    forgets = True
    shared = False
    """Whether clients upload their states."""

    def __init__(self, build: Build):
        self._build = build

    def begin(self, client: int) -> torch.optim.Optimizer:
        """Return a client's optimizer for a round: here a new one."""
        return self._build()

    def end(self, client: int, optimizer: torch.optim.Optimizer, weight: float) -> None:
        """Take an optimizer back: nothing to do, unless something of it is shared."""

    def finish_round(self, participants: list[int]) -> dict[str, Any]:
        """Return the states that this round has changed, by name: here none outlives it."""
        return {}

    def restore(self, states: dict[str, Any]) -> None:
        """Continue from the states of a checkpoint."""


class Persist(Reset):
    """Every client keeps its own moments and step count until it takes part again."""

    forgets = False

    def __init__(self, build: Build):
        super().__init__(build)
        self._optimizers: dict[str, torch.optim.Optimizer] = {}

    def begin(self, client: int) -> torch.optim.Optimizer:
        """Return the client's optimizer, new at its first round."""
        name = f"client-{client}"
        if name not in self._optimizers:
            self._optimizers[name] = self._build()
        return self._optimizers[name]

    def finish_round(self, participants: list[int]) -> dict[str, Any]:
        """Return the states of those who took part."""
        names = [f"client-{c}" for c in participants]
        return {n: self._optimizers[n].state_dict() for n in names if n in self._optimizers}

    def restore(self, states: dict[str, Any]) -> None:
        """Continue from the states of a checkpoint."""
        for name, state in states.items():
            self._optimizers[name] = self._build()
            self._optimizers[name].load_state_dict(state)


class Server(Reset):
    """Clients upload their state with their weights; the server averages and redistributes it.

    Moments are averaged with the weights of the model average, the step count is the largest.
    The states are functions of privatised gradients alone, so this costs no privacy.
    """

    forgets, shared = False, True

    def __init__(self, build: Build):
        super().__init__(build)
        self._shared: dict[str, Any] | None = None
        self._sum: dict[str, Any] = {}
        self._weight = 0.0
        self._groups: list[dict] = []

    def begin(self, client: int) -> torch.optim.Optimizer:
        """Return an optimizer that holds the server's state."""
        optimizer = self._build()
        if self._shared is not None:
            optimizer.load_state_dict(_copied(self._shared))
        return optimizer

    def end(self, client: int, optimizer: torch.optim.Optimizer, weight: float) -> None:
        """Add the client's state to the average."""
        for name, value in optimizer.state_dict()["state"].get(0, {}).items():
            if _is_moment(value):
                self._sum[name] = self._sum.get(name, 0) + weight * value
            elif value is not None:
                self._sum[name] = max(self._sum.get(name, 0), value)
        self._weight += weight
        self._groups = optimizer.state_dict()["param_groups"]

    def finish_round(self, participants: list[int]) -> dict[str, Any]:
        """Average the uploaded states and return the server's new one."""
        if not self._weight:
            return {}
        mean = {k: v / self._weight if _is_moment(v) else v for k, v in self._sum.items()}
        self._shared = {"state": {0: mean} if mean else {}, "param_groups": self._groups}
        self._sum, self._weight = {}, 0.0
        return {"server": self._shared}

    def restore(self, states: dict[str, Any]) -> None:
        """Continue from the server's state of a checkpoint."""
        self._shared = states.get("server")


def _is_moment(value: Any) -> bool:
    return torch.is_tensor(value) and value.ndim > 0


def _copied(state: dict[str, Any]) -> dict[str, Any]:
    """Copy the moments, since optimizers update them in place."""
    moments = {
        index: {k: v.clone() if torch.is_tensor(v) else v for k, v in values.items()}
        for index, values in state["state"].items()
    }
    return {"state": moments, "param_groups": state["param_groups"]}


STATES = {"persist": Persist, "reset": Reset, "server": Server}
