"""What the optimizers of this folder share: checks, the loop, moments, rates and their bounds."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import torch
from torch import Tensor

from dpfl.base.errors import UserError
from dpfl.contracts import bounds as declared_bounds

Group = dict[str, Any]
State = dict[str, Any]
Params = Iterable[Tensor] | Iterable[Group]


def bounds(t: int, final_lr: float, gamma: float) -> tuple[float, float]:
    """Return the lowest and the highest rate allowed at step t >= 1; both tend to final_lr.

    eta_l(t) = (1 - 1 / (gamma t + 1)) final_lr, eta_h(t) = (1 + 1 / (gamma t)) final_lr: Meng et
    al. 2023, section 3.1, where gamma is 1 - beta2; in the code of Luo et al. 2019 it is its own.
    """
    return (1 - 1 / (gamma * t + 1)) * final_lr, (1 + 1 / (gamma * t)) * final_lr


def clip_first(lr: float, eps: float, c1: float, c2: float) -> tuple[float, float, float]:
    """Order of Meng et al. 2023: the rate lr / (sqrt(s / c2) + eps), clipped, then times m / c1."""
    return lr * math.sqrt(c2), eps * math.sqrt(c2), 1 / c1


def adabound(lr: float, eps: float, c1: float, c2: float) -> tuple[float, float, float]:
    """Order of AdaBound's code: lr sqrt(c2) / c1 / (sqrt(s) + eps), clipped, then times m."""
    return lr * math.sqrt(c2) / c1, eps, 1.0


Order = Callable[[float, float, float, float], tuple[float, float, float]]

# An order turns lr, eps and the bias corrections c_i = 1 - beta_i^t into (scale, offset, factor):
# the rate is scale / (sqrt(s) + offset), and theta moves by factor * clip(rate) * m.
ORDERS: dict[str, Order] = {"clip-first": clip_first, "adabound": adabound}


class Elementwise(torch.optim.Optimizer):
    """The loop: `update(parameter, gradient, state, group)` wherever there is a gradient.

    Settings live in the parameter groups and are checked there (UserError); they are the arguments
    of the file's `build`. Sparse and complex gradients are refused (UserError). Every parameter
    counts its own steps.
    """

    declared: ClassVar[Mapping[str, str]] = {"lr": "number >= 0"}
    """The SETTINGS of the optimizer's file; the names are those of the parameter groups."""

    def __init__(self, params: Params, **settings: Any):
        super().__init__(params, settings)

    def update(self, theta: Tensor, grad: Tensor, state: State, group: Group) -> None:
        """Move theta in place; the one thing that an optimizer defines."""
        raise NotImplementedError

    def add_param_group(self, param_group: Group) -> None:
        """Add a group of parameters; UserError if one of its settings is out of bounds."""
        super().add_param_group(param_group)
        name = declared_bounds.plug_in(type(self))
        declared_bounds.check(name, self.declared, self.param_groups[-1])

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """Take one step and return the closure's loss, if there is a closure."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for theta in group["params"]:
                if theta.grad is None:
                    continue
                grad, state = _dense_real(theta.grad), self.state[theta]
                state["step"] = state.get("step", 0) + 1
                self.update(theta, grad, state, group)
        return loss


def first_moment(state: State, grad: Tensor, beta1: float) -> Tensor:
    """Return m_t = beta1 m_{t-1} + (1 - beta1) g_t, kept in `state`."""
    if "first_moment" not in state:
        state["first_moment"] = torch.zeros_like(grad)
    return state["first_moment"].lerp_(grad, 1 - beta1)


def second_moment(state: State, deviation: Tensor, group: Group) -> None:
    """Keep s_t = beta2 s_{t-1} + (1 - beta2) deviation^2 in `state`, and add eps to it if asked."""
    if "second_moment" not in state:
        state["second_moment"] = torch.zeros_like(deviation)
    beta2 = group["betas"][1]
    state["second_moment"].mul_(beta2).addcmul_(deviation, deviation, value=1 - beta2)
    if group.get("eps_in_second_moment"):
        state["second_moment"].add_(group["eps"])


def correction(state: State, beta: float) -> float:
    """Return the bias correction 1 - beta^t."""
    return 1 - beta ** state["step"]


def unclipped(state: State, group: Group, order: Order) -> tuple[Tensor, float]:
    """Return the rate of every coordinate before clipping, and the factor that multiplies m."""
    c1, c2 = (correction(state, beta) for beta in group["betas"])
    scale, offset, factor = order(group["lr"], group["eps"], c1, c2)
    return state["second_moment"].sqrt().add_(offset).reciprocal_().mul_(scale), factor


def current_bounds(state: State, group: Group) -> tuple[float, float]:
    """Return the bounds at the current step; a gamma of None is 1 - beta2."""
    gamma = 1 - group["betas"][1] if group["gamma"] is None else group["gamma"]
    return bounds(state["step"], group["final_lr"], gamma)


def bounded(state: State, group: Group) -> tuple[Tensor, float, tuple[float, float]]:
    """Return `unclipped` and the bounds at the current step: (0, inf) if they are off."""
    rates, factor = unclipped(state, group, ORDERS[group["order"]])
    return rates, factor, current_bounds(state, group) if group["bounds"] else (0.0, math.inf)


def bounded_step(theta: Tensor, state: State, group: Group) -> None:
    """theta -= factor * clip(rates, low, high) * m, once both moments are those of this step."""
    rates, factor, (low, high) = bounded(state, group)
    theta.addcmul_(state["first_moment"], rates.clamp_(low, high), value=-factor)


def started(optimizer: torch.optim.Optimizer) -> Iterator[tuple[Tensor, State, Group]]:
    """Yield (parameter, state, group) of the parameters that have taken a step."""
    for group in optimizer.param_groups:
        for theta in group["params"]:
            if optimizer.state.get(theta):
                yield theta, optimizer.state[theta], group


def gather(pieces: Iterable[tuple[Tensor, tuple[float, float]]]) -> tuple[Tensor, float, float]:
    """Join (rates, bounds) of all parameters; UserError unless they have one pair of bounds."""
    pieces = list(pieces)
    pairs = {pair for _, pair in pieces}
    if len(pairs) != 1:
        raise UserError(f"coordinate_rates: {len(pairs)} pairs of bounds; there must be 1")
    return torch.cat([rates.flatten() for rates, _ in pieces]), *pairs.pop()


def bounded_rates(optimizer: torch.optim.Optimizer) -> tuple[Tensor, float, float]:
    """Return the rates that `bounded_step` clips, for every coordinate [D], and their bounds."""
    pieces = (bounded(state, group) for _, state, group in started(optimizer))
    return gather((rates, limits) for rates, _, limits in pieces)


def _dense_real(grad: Tensor) -> Tensor:
    """Refuse the gradients for which these optimizers are not defined."""
    if grad.layout is not torch.strided or grad.is_complex():
        raise UserError(f"gradient is {grad.layout}, {grad.dtype}; it must be dense and real")
    return grad
