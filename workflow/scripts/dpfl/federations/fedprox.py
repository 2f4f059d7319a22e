"""fedprox: clients are drawn to the server's weights (Li et al. 2020, arXiv 1812.06127).

To the private gradient of a step mu (w - x) is added, x the weights that the round began with. It
is made of what was released, so it takes no part in clipping and costs nothing. Where that is only
added `beyond` a distance from x, it is the bounded local update of BLUR (arXiv 2303.11242).
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import FEDAVG, Federation, Setting, Visit

SETTINGS = {"mu": "number >= 0", "beyond": "number >= 0"}


@dataclass(frozen=True)
class Proximal:
    """mu / 2 times the squared distance to the server's weights, less a squared distance."""

    mu: float
    beyond: float

    def term(self, visit: Visit, weights: Tensor) -> Tensor | None:
        """Return its gradient [D]; None within that distance."""
        way = weights - visit.server
        if self.beyond and torch.linalg.vector_norm(way) <= self.beyond:
            return None
        return self.mu * way


@bounded(SETTINGS)
def build(setting: Setting, mu: float, beyond: float = 0.0) -> Federation:
    """Return the rule; UserError unless both are finite and at least 0."""
    return Federation(term=Proximal(mu, beyond).term) if mu else FEDAVG
