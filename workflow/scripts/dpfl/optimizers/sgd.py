"""sgd: theta -= lr * g."""

import torch

from dpfl.limits import check
from dpfl.optimizers._adaptive import Params


def build(params: Params, lr: float) -> torch.optim.Optimizer:
    """Return torch's SGD; UserError if lr is negative or not a number."""
    check("optimizer", {"lr": lr})
    return torch.optim.SGD(params, lr, foreach=False)  # one flat tensor: nothing to batch
