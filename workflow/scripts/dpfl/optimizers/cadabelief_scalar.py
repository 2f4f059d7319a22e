"""cadabelief-scalar: cadabelief's bounds on ONE rate, the control for what coordinates add."""

import torch
from torch import Tensor

from dpfl.adaptive.elementwise import (
    Elementwise,
    Group,
    Params,
    State,
    correction,
    current_bounds,
    first_moment,
    gather,
    started,
)

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "final_lr": "number > 0",
    "gamma": "null or number > 0",
}
COLUMNS = ("r", "regime", "clipped_below", "clipped_above")


class CAdaBeliefScalar(Elementwise):
    """SGD along the mean gradient at a clipped rate that all coordinates share.

    theta -= clip(lr, eta_l(t), eta_h(t)) m_t / (1 - beta1^t)

    Assumption: `lr` is the unclipped rate r itself, constant over steps and coordinates
    (dpfl.adaptive.binding_bounds.unclipped_rate predicts it). It is not the alpha of AdaBelief,
    which sqrt(shat) divides. beta2 only sets the default speed of the bounds, gamma = 1 - beta2.
    Raises UserError if a setting is out of bounds.
    """

    declared = SETTINGS

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """One step."""
        beta1, _ = group["betas"]
        low, high = current_bounds(state, group)
        rate = min(max(group["lr"], low), high)
        theta.add_(first_moment(state, grad, beta1), alpha=-rate / correction(state, beta1))

    @torch.no_grad()
    def coordinate_rates(self) -> tuple[Tensor, float, float]:
        """Return the unclipped rate lr, expanded to every coordinate [D], and the bounds."""
        return gather(
            (theta.new_tensor(group["lr"]).expand(theta.numel()), current_bounds(state, group))
            for theta, state, group in started(self)
        )


def build(
    params: Params,
    lr: float,
    betas: tuple[float, float] = (0.9, 0.999),
    final_lr: float = 0.1,
    gamma: float | None = None,
) -> CAdaBeliefScalar:
    """Return CAdaBeliefScalar."""
    return CAdaBeliefScalar(**locals())
