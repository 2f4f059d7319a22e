"""adabound: Adam with every coordinate's rate clipped to bounds that close in (Luo et al. 2019)."""

import torch
from torch import Tensor

from dpfl.adaptive.elementwise import (
    Elementwise,
    Group,
    Params,
    State,
    bounded_rates,
    bounded_step,
    first_moment,
    second_moment,
)

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "eps": "number > 0",
    "final_lr": "number > 0",
    "gamma": "null or number > 0",
}
COLUMNS = ("r", "regime", "clipped_below", "clipped_above")


class AdaBound(Elementwise):
    """AdaBound: arXiv 1902.09843, in the order of the authors' code (adabound 0.0.5).

    m_t = beta1 m_{t-1} + (1 - beta1) g_t          v_t = beta2 v_{t-1} + (1 - beta2) g_t^2
    rate = lr sqrt(1 - beta2^t) / (1 - beta1^t) / (sqrt(v_t) + eps)
    theta -= clip(rate, eta_l(t), eta_h(t)) m_t, with the bounds' own speed gamma (None: 1 - beta2)

    A learning-rate schedule moves lr alone (the authors' code lets final_lr follow it).
    Raises UserError if a setting is out of bounds.
    """

    declared = SETTINGS

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """One step of the authors' code."""
        first_moment(state, grad, group["betas"][0])
        second_moment(state, grad, group)
        bounded_step(theta, state, group)

    def noise_scale(self) -> float:
        """Return sqrt(vhat) of a coordinate whose gradient is white noise of unit variance."""
        return 1.0

    @torch.no_grad()
    def coordinate_rates(self) -> tuple[Tensor, float, float]:
        """Return the rates before clipping, for every coordinate [D], and the bounds."""
        return bounded_rates(self)


def build(
    params: Params,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    final_lr: float = 0.1,
    gamma: float | None = 1e-3,
) -> AdaBound:
    """Return AdaBound."""
    return AdaBound(**locals(), bounds=True, order="adabound", eps_in_second_moment=False)
