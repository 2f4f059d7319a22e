"""dp-adamw: Adam with decoupled weight decay (Loshchilov and Hutter 2019, arXiv 1711.05101)."""

import torch

from dpfl.adaptive.elementwise import Params
from dpfl.contracts.bounds import bounded
from dpfl.optimizers.adam import TellsRates

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "eps": "number > 0",
    "weight_decay": "number >= 0",
}


class AdamW(TellsRates, torch.optim.AdamW):
    """torch's AdamW, which also tells its rates.

    theta -= lr (mhat / (sqrt(vhat) + eps) + weight_decay theta): their algorithm 2. There the rate
    of the decay is the schedule's alone and not lr, as in torch. The weights decay and not the
    gradients, so neither clipping nor noise sees it.
    """


@bounded(SETTINGS)
def build(
    params: Params,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    weight_decay: float = 0.01,
) -> AdamW:
    """Return AdamW; UserError if a setting is out of bounds."""
    return AdamW(params, lr, tuple(betas), eps, weight_decay, fused=True)
