"""sgd-momentum: u = momentum * u + g; theta -= lr * u (heavy ball, undamped)."""

import torch

from dpfl.limits import check
from dpfl.optimizers._adaptive import Params


def build(params: Params, lr: float, momentum: float = 0.9) -> torch.optim.Optimizer:
    """Return torch's SGD with momentum in [0, 1); UserError if a setting is out of bounds."""
    check("optimizer", {"lr": lr, "momentum": momentum})
    return torch.optim.SGD(params, lr, momentum=momentum, foreach=False)
