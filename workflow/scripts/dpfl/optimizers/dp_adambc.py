"""dp-adambc: Adam whose second moment has the noise's variance subtracted (Tang et al. 2024)."""

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from dpfl.adaptive.elementwise import (
    Elementwise,
    Group,
    Params,
    State,
    correction,
    first_moment,
    gather,
    second_moment,
    started,
)

if TYPE_CHECKING:
    from dpfl.contracts.release import PublicNoise

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "floor": "number > 0",
}
NEEDS_NOISE = True


class DPAdamBC(Elementwise):
    """DP-AdamBC: Tang, Shpilevskiy and Lecuyer 2024, algorithm 2; arXiv 2312.14334.

    m_t and v_t are as in Adam, mhat_t and vhat_t without their bias. phi = (z C / B)^2 is the
    variance of the noise on every coordinate of the mean gradient. With the floor gamma',

    theta -= lr mhat_t / sqrt(max(vhat_t - phi, floor))

    The floor stands for Adam's eps. The paper's phi never changes. Here it may, with the noise of a
    budget or with C. Then it is phi_t = beta2 phi_{t-1} + (1 - beta2) (z C / B)_t^2, without its
    bias. The noise adds this to vhat_t in expectation. It equals phi where that is constant.

    Told of no noise, as in training without privacy, phi is 0: Adam with a floor.
    The default of the floor is that of the authors' code. UserError if a setting is out of bounds.
    """

    declared = SETTINGS
    _variance = 0.0

    def tell_noise(self, noise: "PublicNoise") -> None:
        """Take note of the noise of the next step, which holds until told anew."""
        self._variance = noise.standard_deviation**2

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """One step of algorithm 2."""
        mean = first_moment(state, grad, group["betas"][0])
        second_moment(state, grad, group)
        self._average_noise(state, theta, group["betas"][1])
        factor = 1 / correction(state, group["betas"][0])
        theta.addcmul_(mean, _rates(state, group), value=-factor)

    def _average_noise(self, state: State, theta: Tensor, beta2: float) -> None:
        """Keep phi_t [1]: a moment as the others are, which servers average and files keep."""
        if "noise_moment" not in state:
            state["noise_moment"] = theta.new_zeros(1)
        state["noise_moment"].mul_(beta2).add_((1 - beta2) * self._variance)

    @torch.no_grad()
    def coordinate_rates(self) -> tuple[Tensor, float, float]:
        """Return lr / sqrt(max(vhat - phi, floor)) of every coordinate [D] and bounds (0, inf)."""
        return gather((_rates(state, group), (0.0, math.inf)) for _, state, group in started(self))


def _rates(state: State, group: Group) -> Tensor:
    corrected = (state["second_moment"] - state["noise_moment"]) / correction(
        state, group["betas"][1]
    )
    return corrected.clamp_(min=group["floor"]).rsqrt_().mul_(group["lr"])


def build(
    params: Params,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    floor: float = 1e-8,
) -> DPAdamBC:
    """Return DPAdamBC."""
    return DPAdamBC(**locals())
