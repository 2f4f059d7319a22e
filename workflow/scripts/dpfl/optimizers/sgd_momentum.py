"""sgd-momentum: u = momentum * u + g; theta -= lr * u (heavy ball, undamped)."""

import torch

from dpfl.adaptive.elementwise import Params
from dpfl.contracts.bounds import bounded

SETTINGS = {
    "lr": "number >= 0",
    "momentum": "number in [0, 1)",
}


@bounded(SETTINGS)
def build(params: Params, lr: float, momentum: float = 0.9) -> torch.optim.Optimizer:
    """Return torch's SGD with momentum in [0, 1); UserError if a setting is out of bounds."""
    return torch.optim.SGD(params, lr, momentum=momentum, foreach=False)
