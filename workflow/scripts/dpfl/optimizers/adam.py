"""adam: Kingma and Ba 2015, arXiv 1412.6980, algorithm 1."""

import math

import torch
from torch import Tensor

from dpfl.adaptive.elementwise import Params, gather, started
from dpfl.contracts.bounds import bounded

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "eps": "number > 0",
}


class TellsRates:
    """What torch's Adam and AdamW tell of their rates, which are the same."""

    def noise_scale(self) -> float:
        """Return sqrt(vhat) of a coordinate whose gradient is white noise of unit variance."""
        return 1.0

    @torch.no_grad()
    def coordinate_rates(self) -> tuple[Tensor, float, float]:
        """Return lr / (sqrt(vhat) + eps) of every coordinate [D] and the bounds (0, inf)."""
        return gather(
            (_rates(state, **group), (0.0, math.inf)) for _, state, group in started(self)
        )


def _rates(state: dict, lr: float, betas: tuple[float, float], eps: float, **_) -> Tensor:
    corrected = state["exp_avg_sq"] / (1 - betas[1] ** state["step"].item())
    return lr / (corrected.sqrt() + eps)


class Adam(TellsRates, torch.optim.Adam):
    """torch's Adam, which also tells its rates."""


@bounded(SETTINGS)
def build(
    params: Params, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8
) -> Adam:
    """Return Adam; UserError if a setting is out of bounds."""
    return Adam(params, lr, tuple(betas), eps, fused=True)  # half the time of a loop of operations
