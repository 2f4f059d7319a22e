"""fedprox: clients are drawn to the server's weights (Li et al. 2020, arXiv 1812.06127).

To the private gradient of a step mu (w - x) is added, x the weights that the round began with. It
is made of what was released, so it takes no part in clipping and costs nothing.
"""

from dataclasses import dataclass

from torch import Tensor

from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import Federation, Setting, Visit

SETTINGS = {"mu": "number >= 0"}


@dataclass(frozen=True)
class Proximal:
    """mu / 2 times the squared distance to the server's weights."""

    mu: float

    def term(self, visit: Visit, weights: Tensor) -> Tensor:
        """Return its gradient [D]."""
        return self.mu * (weights - visit.server)


@bounded(SETTINGS)
def build(setting: Setting, mu: float) -> Federation:
    """Return the rule; UserError unless mu is finite and at least 0."""
    return Federation(term=Proximal(mu).term) if mu else Federation()
