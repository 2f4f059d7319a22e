"""sgd: theta -= lr * g."""

import torch

from dpfl.adaptive.elementwise import Params
from dpfl.contracts.bounds import bounded

SETTINGS = {"lr": "number >= 0"}


@bounded(SETTINGS)
def build(params: Params, lr: float) -> torch.optim.Optimizer:
    """Return torch's SGD; UserError if lr is negative or not a number."""
    return torch.optim.SGD(params, lr, foreach=False)  # one flat tensor: nothing to batch
