"""adabelief: steps shrink where gradients stray from their mean (Zhuang et al. 2020)."""

import math

import torch
from torch import Tensor

from dpfl.adaptive.binding_bounds import residual_scale
from dpfl.adaptive.elementwise import (
    Elementwise,
    Group,
    Params,
    State,
    clip_first,
    first_moment,
    gather,
    second_moment,
    started,
    unclipped,
)

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "eps": "number > 0",
    "eps_in_second_moment": "switch",
}


class AdaBelief(Elementwise):
    """AdaBelief: Zhuang et al. 2020, algorithm 1 of Meng et al. 2023; arXiv 2010.07468.

    m_t = beta1 m_{t-1} + (1 - beta1) g_t          s_t = beta2 s_{t-1} + (1 - beta2) (g_t - m_t)^2
    theta -= lr / (sqrt(s_t / (1 - beta2^t)) + eps) * m_t / (1 - beta1^t)

    `eps_in_second_moment` also adds eps to s at every step. The authors' code does so, the
    algorithm does not. Raises UserError if a setting is out of bounds.
    """

    declared = SETTINGS

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Lines 3 to 8 of algorithm 1."""
        mean = first_moment(state, grad, group["betas"][0])
        second_moment(state, grad - mean, group)
        rates, factor = unclipped(state, group, clip_first)
        theta.addcmul_(mean, rates, value=-factor)

    def noise_scale(self) -> float:
        """Return sqrt(shat) of a coordinate whose gradient is white noise of unit variance."""
        return residual_scale(self.param_groups[0]["betas"][0])

    @torch.no_grad()
    def coordinate_rates(self) -> tuple[Tensor, float, float]:
        """Return lr / (sqrt(shat) + eps) of every coordinate [D] and the bounds (0, inf)."""
        return gather(
            (unclipped(state, group, clip_first)[0], (0.0, math.inf))
            for _, state, group in started(self)
        )


def build(
    params: Params,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    eps_in_second_moment: bool = False,
) -> AdaBelief:
    """Return AdaBelief."""
    return AdaBelief(**locals())
