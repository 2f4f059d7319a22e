"""sgd-ema: theta -= lr * mhat, the control that has cadabelief's momentum and no belief."""

from torch import Tensor

from dpfl.adaptive.elementwise import Elementwise, Group, Params, State, correction, first_moment

SETTINGS = {
    "lr": "number >= 0",
    "beta1": "number in [0, 1)",
}


class SGDEMA(Elementwise):
    """SGD along the bias-corrected mean gradient; UserError if a setting is out of bounds.

    m_t = beta1 m_{t-1} + (1 - beta1) g_t          theta -= lr m_t / (1 - beta1^t)
    """

    declared = SETTINGS

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """One step."""
        mean = first_moment(state, grad, group["beta1"])
        theta.add_(mean, alpha=-group["lr"] / correction(state, group["beta1"]))


def build(params: Params, lr: float, beta1: float = 0.9) -> SGDEMA:
    """Return SGDEMA."""
    return SGDEMA(**locals())
