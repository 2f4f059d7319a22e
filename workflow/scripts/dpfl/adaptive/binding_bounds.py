"""Whether cadabelief's bounds ever bind under noise: a prediction, made before any training.

Noise of standard deviation sigma C / B per coordinate swamps the gradient. So sqrt(s) is nearly the
same for all coordinates, and so is the unclipped rate r = alpha / sqrt(s).
"""

import math
from dataclasses import dataclass
from typing import Literal

from dpfl.base.errors import UserError


@dataclass(frozen=True)
class Regime:
    """The bound that r ends up on, and the first step on it (None: not within the steps taken)."""

    name: Literal["never clipped", "upper", "lower"]
    step: int | None


def residual_scale(beta1: float) -> float:
    """Return the standard deviation of g_t - m_t when g_t is white noise of unit variance.

    g_t - m_t = beta1 (g_t - m_{t-1}) and Var m = (1 - beta1) / (1 + beta1). So the variance is
    beta1^2 (1 + Var m) = 2 beta1^2 / (1 + beta1). The standard deviation at beta1 = .9 is .9234.
    """
    if not 0 <= beta1 < 1:
        raise UserError(f"regime: beta1 is {beta1}; it must be in [0, 1)")
    return beta1 * math.sqrt(2 / (1 + beta1))


def unclipped_rate(
    alpha: float, expected_batch: float, noise_multiplier: float, clip_norm: float, scale: float
) -> float:
    """Return r = alpha B / (scale sigma C), the rate of a coordinate that is all noise.

    `scale` is sqrt(s) for noise of unit variance: `residual_scale` for the belief optimizers, 1
    where s averages g^2. B is the expected batch size, sigma the noise multiplier, C the clip norm,
    all above 0 (UserError). Without noise there is no such prediction.
    """
    _check_positive(**locals())
    return alpha * expected_batch / (scale * noise_multiplier * clip_norm)


def regime(r: float, final_lr: float, gamma: float, steps: int) -> Regime:
    """Return the bound that the rate r is pinned to within `steps`, and from which step on.

    For r > final_lr it is upper, once 1 / (gamma t) <= r / final_lr - 1. For r < final_lr it is
    lower, once gamma t >= (r / final_lr) / (1 - r / final_lr). Until then nothing clips and
    cadabelief is adabelief. `steps` counts from the last reset of the optimizer's state. Raises
    UserError.
    """
    _check_positive(r=r, final_lr=final_lr, gamma=gamma)
    ratio = r / final_lr
    if ratio == 1:
        return Regime("never clipped", None)
    name, pinned = ("upper", 1 / (ratio - 1)) if ratio > 1 else ("lower", ratio / (1 - ratio))
    if pinned / gamma > steps:
        return Regime("never clipped", None)
    return Regime(name, math.ceil(pinned / gamma))


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise UserError(f"regime: {name} is {value}; it must be finite and above 0")
