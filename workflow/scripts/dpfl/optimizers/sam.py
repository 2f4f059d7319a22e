"""sam: sharpness-aware minimisation, SGD along gradients a distance rho uphill (Foret et al. 2021).

arXiv 2010.01412. A step takes two gradients: theta + rho g / |g| is where the second one is taken.
With `adaptive` it is theta + rho theta^2 g / |theta g| (Kwon et al. 2021, arXiv 2102.11600). Where
examples are protected each gradient is a release of a batch of its own, charged as a step.
"""

from typing import Any

import torch
from torch import Tensor

from dpfl.adaptive.elementwise import Params
from dpfl.contracts.bounds import bounded

SETTINGS = {
    "lr": "number >= 0",
    "rho": "number >= 0",
    "momentum": "number in [0, 1)",
    "adaptive": "switch",
}


class Sam(torch.optim.SGD):
    """Climbs at one call of step(), and at the next goes back and takes the step of SGD."""

    gradients = 2

    def __init__(self, params: Params, lr: float, rho: float, momentum: float, adaptive: bool):
        super().__init__(params, lr, momentum=momentum, foreach=False)
        for group in self.param_groups:
            group.setdefault("rho", rho)
            group.setdefault("adaptive", adaptive)

    @torch.no_grad()
    def step(self) -> None:
        """Take one of the two gradients of a step."""
        if self.settle():
            super().step()
            return
        for group, theta in self._parameters():
            self.state[theta]["start"] = theta.clone()
            theta.add_(_uphill(theta, group["rho"], group["adaptive"]))

    @torch.no_grad()
    def settle(self) -> bool:
        """Go back to where the climb began; return whether there was one."""
        climbed = [theta for _, theta in self._parameters() if "start" in self.state[theta]]
        for theta in climbed:
            theta.copy_(self.state[theta].pop("start"))
        return bool(climbed)

    def _parameters(self) -> list[Any]:
        return [(group, theta) for group in self.param_groups for theta in group["params"]]


def _uphill(theta: Tensor, rho: float, adaptive: bool) -> Tensor:
    """Return the way from the weights [D] to where the second gradient is taken."""
    scale = theta.abs() if adaptive else torch.ones_like(theta)
    norm = torch.linalg.vector_norm(scale * theta.grad)
    return scale.square() * theta.grad * (rho / norm if norm else 0.0)


@bounded(SETTINGS)
def build(
    params: Params, lr: float, rho: float = 0.05, momentum: float = 0.0, adaptive: bool = False
) -> Sam:
    """Return Sam; UserError if a setting is out of bounds."""
    return Sam(params, lr, rho, momentum, adaptive)
