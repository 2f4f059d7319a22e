"""sparse: clients send a share of the coordinates of their update (Fed-SMP, arXiv 2202.07178).

With `top-k` each client sends its own largest coordinates. With `random-k` all send the same ones,
drawn in public for a round, divided by the share. With `released-k` they are the largest of what
was released in the round before. Of the mean the others are then left out, and their noise with
them. A client chooses before its update is clipped.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import Federation, Setting, States, Visit

SETTINGS = {"share": "number in (0, 1]", "choose": "one of top-k, random-k, released-k"}


def top_k(update: Tensor, count: int) -> Tensor:
    """Return which coordinates are the `count` largest [D], true there."""
    return torch.zeros_like(update, dtype=torch.bool).index_fill_(
        0, update.abs().topk(count).indices, True
    )


@dataclass(frozen=True)
class TopK:
    """Every client keeps its own largest coordinates."""

    share: float

    def end(self, visit: Visit, weights: Tensor, steps: int, rate: float) -> Tensor:
        """Return the weights, moved in these coordinates alone."""
        update = weights - visit.server
        return torch.where(top_k(update, _count(self.share, update)), weights, visit.server)


@dataclass(frozen=True)
class RandomK:
    """All keep the same coordinates, drawn in public for a round."""

    share: float
    setting: Setting

    def end(self, visit: Visit, weights: Tensor, steps: int, rate: float) -> Tensor:
        """Return the weights, moved further in these coordinates and not in the others."""
        moved = visit.server + (weights - visit.server) / self.share
        return self.combine(visit.round, visit.server, moved)

    def combine(self, number: int, server: Tensor, mean: Tensor) -> Tensor:
        """Return the mean in these coordinates, the server's weights in all others."""
        order = torch.from_numpy(self.setting.rng(number).permutation(len(server)))
        chosen = torch.zeros(len(server), dtype=torch.bool)
        chosen[order[: _count(self.share, server)]] = True
        return torch.where(chosen.to(server.device), mean, server)


@dataclass
class ReleasedK:
    """All keep the coordinates that moved most in the round before; all of them in the first."""

    share: float
    chosen: Tensor | None = None

    def end(self, visit: Visit, weights: Tensor, steps: int, rate: float) -> Tensor:
        """Return the weights, moved in these coordinates alone."""
        return self._kept(visit.server, weights)

    def combine(self, number: int, server: Tensor, mean: Tensor) -> Tensor:
        """Return the mean in these coordinates; all that was released chooses the next ones."""
        moved, self.chosen = (
            self._kept(server, mean),
            top_k(mean - server, _count(self.share, mean)),
        )
        return moved

    def state(self) -> States:
        """Return which coordinates come next."""
        return {} if self.chosen is None else {"server": {"chosen": self.chosen}}

    def restore(self, states: States) -> None:
        """Continue from the coordinates of a checkpoint."""
        self.chosen = states.get("server", {}).get("chosen")

    def _kept(self, server: Tensor, weights: Tensor) -> Tensor:
        return weights if self.chosen is None else torch.where(self.chosen, weights, server)


def _count(share: float, vector: Tensor) -> int:
    """Return how many coordinates a share is: at least one."""
    return max(1, round(share * len(vector)))


def _top(setting: Setting, share: float) -> Federation:
    return Federation(end=TopK(share).end)


def _random(setting: Setting, share: float) -> Federation:
    made = RandomK(share, setting)
    return Federation(end=made.end, combine=made.combine)


def _released(setting: Setting, share: float) -> Federation:
    made = ReleasedK(share)
    return Federation(end=made.end, combine=made.combine, state=made.state, restore=made.restore)


_CHOICES: dict[str, Callable[[Setting, float], Federation]] = {
    "top-k": _top,
    "random-k": _random,
    "released-k": _released,
}


@bounded(SETTINGS)
def build(setting: Setting, share: float, choose: str = "top-k") -> Federation:
    """Return the rule; UserError unless 0 < share <= 1."""
    return _CHOICES[choose](setting, share)
