"""What clients release of all their examples before the first step: noisy sums, each charged first.

Every client that takes part adds noise of its own to its own sum. The sums are added up and divided
by the number of all their examples, which is public. With one client that is one noisy mean.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from dpfl import statistics
from dpfl.contracts.affine import Affine
from dpfl.draws.gaussian import noisy_sum
from dpfl.draws.noise import Draws

CHUNK = 1000


@dataclass(frozen=True)
class Releases:
    """Means over the examples of some clients, released with noise.

    `members` are the indices of every such client's examples among `inputs` [N, ...]. `planned` are
    the noise multipliers of releases by name: without any, nothing is clipped and no noise added.
    `charge` records a client's release by name and multiplier; `draws` makes those of a key.
    """

    inputs: Tensor
    members: Mapping[int, Tensor]
    planned: Mapping[str, float]
    charge: Callable[[int, str, float], None]
    draws: Callable[..., Draws]

    def mean(self, name: str, rows: Callable[[Tensor], Tensor], radius: float) -> Tensor:
        """Return the mean of rows(x) [L, d] of examples x [L, ...], as float64 [d].

        Every row is scaled to a norm of at most the radius; one that is not finite counts as zero.
        So one example, added or removed, moves its client's sum by at most the radius. That needs
        `rows` to treat every example by itself. UserError for a release that is not planned, or
        twice.
        """
        total = torch.zeros((), dtype=torch.float64, device=self.inputs.device)
        for client, members in self.members.items():
            total = total + self._sum(client, members, name, rows, radius)
        return total / sum(map(len, self.members.values()))

    def _sum(
        self, client: int, members: Tensor, name: str, rows: Callable, radius: float
    ) -> Tensor:
        """Charge one client's release, then return it."""
        if not self.planned:
            return self.clipped_sum(members, rows, float("inf"))
        multiplier = self.planned[name]
        self.charge(client, name, multiplier)
        total = self.clipped_sum(members, rows, radius)
        noise = self.draws(client, "statistics", name).normal(len(total))
        return noisy_sum(total, noise, multiplier * radius)

    def clipped_sum(self, members: Tensor, rows: Callable, radius: float) -> Tensor:
        """Return the sum over examples of rows(x) scaled to norm `radius` or less, float64 [d]."""
        parts = (rows(self.inputs[some].double()) for some in members.split(CHUNK))
        return sum(_clipped_sum(part, radius) for part in parts)


def _clipped_sum(rows: Tensor, radius: float) -> Tensor:
    """Return sum_i r_i min(1, R / |r_i|) over rows [L, d] whose norm is finite."""
    norms = torch.linalg.vector_norm(rows, dim=1)
    finite = norms.isfinite()
    if not finite.all():
        rows, norms = rows[finite], norms[finite]
    return (radius / norms).clamp_(max=1) @ rows


def measured(settings: dict[str, Any], releases: Releases) -> Affine:
    """Return the map of inputs that the rule of these settings makes of its releases."""
    rule = statistics.build(settings)
    return rule.measure(releases.mean, tuple(releases.inputs.shape[1:]))
