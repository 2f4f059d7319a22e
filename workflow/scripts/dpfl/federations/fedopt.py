"""fedopt: an optimizer takes the server's steps, along what moved the clients (Reddi et al. 2021).

arXiv 2003.00295, algorithm 1. The gradient is x - mean(y), of the server's weights x and those that
clients send. `sgd` of rate 1 is fedavg, `sgd-momentum` FedAvgM, `fedopt` FedAdam, FedYogi and
FedAdagrad. `options` are further settings of the optimizer's file. It sees what was released, so it
costs nothing.
"""

from typing import Any

import torch
from torch import Tensor

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.contracts.bounds import bounded
from dpfl.contracts.federation import Federation, Setting, States
from dpfl.plugins import declarations

SETTINGS = {"algorithm": "name", "rate": "number > 0"}


class Server:
    """The server's optimizer, whose one parameter are the weights."""

    def __init__(self, size: int, algorithm: str, settings: dict[str, Any]):
        self._weights = torch.nn.Parameter(torch.zeros(size))
        self._optimizer = plugins.load("optimizers", algorithm).build([self._weights], **settings)
        if hasattr(self._optimizer, "gradients"):
            raise UserError(f"algorithm is {algorithm}, which takes several gradients a step")

    def combine(self, number: int, server: Tensor, mean: Tensor) -> Tensor:
        """Return the weights after the step."""
        self._weights.data = server.clone()
        self._weights.grad = server - mean
        self._optimizer.step()
        return self._weights.detach().clone()

    def state(self) -> States:
        """Return the moments of the optimizer."""
        return {"server": dict(self._optimizer.state.get(self._weights, {}))}

    def restore(self, states: States) -> None:
        """Continue from the moments of a checkpoint."""
        if states.get("server"):
            self._optimizer.state[self._weights] = dict(states["server"])


@bounded(SETTINGS)
def build(
    setting: Setting, algorithm: str, rate: float, options: dict[str, Any] | None = None
) -> Federation:
    """Return the rule of an optimizer's file; UserError as from that file.

    Also for an optimizer that asks for the noise of a step, or for several gradients.
    """
    lacks = {"lr": rate, **(options or {})}
    for setting_, near in declarations.wrong_settings("optimizers", algorithm, lacks):
        raise UserError(f"options: no {setting_!r} of {algorithm}; {near}")
    if plugins.constant("optimizers", algorithm, "NEEDS_NOISE"):
        raise UserError(f"algorithm is {algorithm}, expected one that takes gradients as they are")
    size = max((part.stop for part in setting.parts.values()), default=0)
    server = Server(size, algorithm, {"lr": rate, **(options or {})})
    return Federation(
        combine=server.combine, state=server.state, restore=server.restore, apart=True
    )
