"""One step of one client, as a private gradient estimator sees it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dpfl.gradients import PerExampleGradients, finite
from dpfl.noise import Normal


@dataclass(frozen=True)
class Public:
    """What costs no privacy: examples declared public, inputs [m, ...] and targets [m]."""

    inputs: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Step:
    """A Poisson batch, inputs [L, ...] and targets [L], and what may be used beside it.

    `noise_multiplier` z is that of all the step releases together, `expected_batch` B the
    denominator, `normal` the secret noise. `number` counts the client's steps of this round from 0;
    `public_rng` builds the generator of draws that anyone may know, anew for every step.
    """

    model: torch.nn.Module
    loss_fn: Callable[[Tensor, Tensor], Tensor]
    inputs: Tensor
    targets: Tensor
    noise_multiplier: float
    expected_batch: float
    normal: Normal
    public: Public
    public_rng: Callable[[], np.random.Generator]
    number: int = 0

    def gradients(self) -> tuple[PerExampleGradients, Tensor]:
        """Return the batch's gradients and their norms [L'], without those that are not finite.

        Mechanisms ask for them here and return a vector of as many coordinates as these have, so
        that an audit can append coordinates and examples of its own.
        """
        return finite(self.model, self.loss_fn, self.inputs, self.targets)

    def public_gradients(self) -> tuple[PerExampleGradients, Tensor]:
        """Return the gradients of the public examples at the current weights, and their norms."""
        return finite(self.model, self.loss_fn, self.public.inputs, self.public.targets)
