"""local-personal: some layers never leave a client, such as the last (Arivazhagan et al. 2019).

arXiv 1912.00818, FedPer. A client trains its own layers with the shared ones, by the same steps,
and is evaluated with them. Where examples are protected they are part of the same joint release, so
the certificate is that of the steps.
"""

from dataclasses import dataclass, field

import torch
from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import Federation, Setting, States, Visit

PERSONAL = True
SETTINGS = {"layers": "list of name"}


@dataclass
class Personal:
    """The places of personal parameters [D], true there, and what each client has there."""

    mask: Tensor
    own: dict[str, Tensor] = field(default_factory=dict)

    def start(self, visit: Visit) -> Tensor:
        """Return the server's weights with the client's own layers."""
        kept = self.own.get(f"client-{visit.client}")
        if kept is None:
            return visit.server
        return visit.server.clone().masked_scatter_(self._at(visit.server), kept)

    def end(self, visit: Visit, weights: Tensor, steps: int, rate: float) -> Tensor:
        """Keep the client's own layers; return the weights with the server's in their place."""
        self.own[f"client-{visit.client}"] = weights[self._at(weights)].clone()
        return torch.where(self._at(weights), visit.server, weights)

    def combine(self, number: int, server: Tensor, mean: Tensor) -> Tensor:
        """Return the mean of the shared layers; the others stay as they were."""
        return torch.where(self._at(server), server, mean)

    def state(self) -> States:
        """Return the layers of all clients that have taken part."""
        return {name: {"own": kept} for name, kept in self.own.items()}

    def restore(self, states: States) -> None:
        """Continue from the layers of a checkpoint."""
        self.own = {name: kept["own"] for name, kept in states.items()}

    def _at(self, weights: Tensor) -> Tensor:
        """Return the places on the device of the weights."""
        return self.mask.to(weights.device)


@bounded(SETTINGS)
def build(setting: Setting, layers: list[str]) -> Federation:
    """Return the rule; `layers` begin the names of personal parameters.

    UserError for one that begins none, and if none is left to share.
    """
    size = max((part.stop for part in setting.parts.values()), default=0)
    mask = torch.zeros(size, dtype=torch.bool)
    for layer in layers:
        found = [part for name, part in setting.parts.items() if f"{name}.".startswith(f"{layer}.")]
        if not found:
            raise UserError(f"layers: no parameter of {layer!r}; {nearest(layer, setting.parts)}")
        for part in found:
            mask[part] = True
    if mask.all():
        raise UserError(f"layers are {', '.join(layers)}, expected fewer: nothing is shared")
    made = Personal(mask)
    return Federation(
        start=made.start,
        end=made.end,
        combine=made.combine,
        state=made.state,
        restore=made.restore,
        apart=True,
    )
