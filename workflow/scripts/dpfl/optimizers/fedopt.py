"""fedopt: Adagrad, Adam or Yogi for servers, without bias correction (Reddi et al. 2021).

Algorithm 2 of arXiv 2003.00295, whose gradient is what moved the clients, with its sign turned. It
is an optimizer as the others are, and may also take local steps.
"""

from collections.abc import Callable

from torch import Tensor

from dpfl.adaptive.elementwise import Elementwise, Group, Params, State, first_moment

SETTINGS = {
    "lr": "number >= 0",
    "betas": "pair of number in [0, 1)",
    "tau": "number > 0",
    "initial": "number >= 0",
    "moment": "one of adagrad, adam, yogi",
}


def adagrad(moment: Tensor, squared: Tensor, beta2: float) -> None:
    """v <- v + g^2."""
    moment.add_(squared)


def adam(moment: Tensor, squared: Tensor, beta2: float) -> None:
    """v <- beta2 v + (1 - beta2) g^2."""
    moment.lerp_(squared, 1 - beta2)


def yogi(moment: Tensor, squared: Tensor, beta2: float) -> None:
    """v <- v - (1 - beta2) g^2 sign(v - g^2)."""
    moment.addcmul_(squared, (moment - squared).sign(), value=beta2 - 1)


_MOMENTS: dict[str, Callable[[Tensor, Tensor, float], None]] = {
    "adagrad": adagrad,
    "adam": adam,
    "yogi": yogi,
}


class FedOpt(Elementwise):
    """theta -= lr m / (sqrt(v) + tau), with m <- beta1 m + (1 - beta1) g, and v from `initial`.

    The defaults of tau and of `initial` are those of the authors' code. UserError if a setting is
    out of bounds.
    """

    declared = SETTINGS

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """One step of algorithm 2."""
        mean = first_moment(state, grad, group["betas"][0])
        if "second_moment" not in state:
            state["second_moment"] = grad.new_full(grad.shape, group["initial"])
        _MOMENTS[group["moment"]](state["second_moment"], grad.square(), group["betas"][1])
        scale = state["second_moment"].sqrt().add_(group["tau"])
        theta.addcdiv_(mean, scale, value=-group["lr"])


def build(
    params: Params,
    lr: float = 1e-2,
    betas: tuple[float, float] = (0.9, 0.99),
    tau: float = 1e-3,
    initial: float = 0.0,
    moment: str = "adam",
) -> FedOpt:
    """Return FedOpt."""
    return FedOpt(**locals())
