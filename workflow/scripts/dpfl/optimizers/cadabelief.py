"""cadabelief: AdaBelief, every coordinate's rate clipped to closing bounds (Meng et al. 2023)."""

import torch
from torch import Tensor

from dpfl.adaptive.binding_bounds import residual_scale
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
    "bounds": "switch",
    "order": "one of clip-first, adabound",
    "eps_in_second_moment": "switch",
}
COLUMNS = ("r", "regime", "clipped_below", "clipped_above")


class CAdaBelief(Elementwise):
    """CAdaBelief: Meng et al. 2023, algorithm 2, printed up to line 4, completed by analogy.

    m_t and s_t as in AdaBelief, mhat_t and shat_t without their bias; elementwise
    eta_t = clip(lr / (sqrt(shat_t) + eps), eta_l(t), eta_h(t))              theta -= eta_t mhat_t

    `final_lr` is the limit a* of both bounds, `gamma` their speed (None: 1 - beta2, as printed);
    `bounds` False leaves AdaBelief. `order` "adabound" clips the rate before m's bias correction,
    as AdaBound's code does. Raises UserError if a setting is out of bounds.
    """

    declared = SETTINGS

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """One step of algorithm 2."""
        mean = first_moment(state, grad, group["betas"][0])
        second_moment(state, grad - mean, group)
        bounded_step(theta, state, group)

    def noise_scale(self) -> float:
        """Return sqrt(shat) of a coordinate whose gradient is white noise of unit variance."""
        return residual_scale(self.param_groups[0]["betas"][0])

    @torch.no_grad()
    def coordinate_rates(self) -> tuple[Tensor, float, float]:
        """Return what `order` clips, for every coordinate [D], and the bounds at this step."""
        return bounded_rates(self)


def build(
    params: Params,
    lr: float = 1e-3,
    betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8,
    final_lr: float = 0.1,
    gamma: float | None = None,
    bounds: bool = True,
    order: str = "clip-first",
    eps_in_second_moment: bool = False,
) -> CAdaBelief:
    """Return CAdaBelief."""
    return CAdaBelief(**locals())
