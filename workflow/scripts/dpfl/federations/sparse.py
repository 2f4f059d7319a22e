"""sparse: clients send a share of the coordinates of their update (Fed-SMP, arXiv 2202.07178).

With `top-k` each client sends its own largest coordinates. With `random-k` all send the same ones,
drawn in public for a round, divided by the share. Of the mean the others are then left out, and
their noise with them. A client chooses before its update is clipped.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import Federation, Setting, Visit

SETTINGS = {"share": "number in (0, 1]", "choose": "one of top-k, random-k"}


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


def _count(share: float, vector: Tensor) -> int:
    """Return how many coordinates a share is: at least one."""
    return max(1, round(share * len(vector)))


def _top(setting: Setting, share: float) -> Federation:
    return Federation(end=TopK(share).end)


def _random(setting: Setting, share: float) -> Federation:
    made = RandomK(share, setting)
    return Federation(end=made.end, combine=made.combine)


CHOICES: dict[str, Callable[[Setting, float], Federation]] = {"top-k": _top, "random-k": _random}


@bounded(SETTINGS)
def build(setting: Setting, share: float, choose: str = "top-k") -> Federation:
    """Return the rule; UserError unless 0 < share <= 1."""
    return CHOICES[choose](setting, share)
