"""One step of one client, as a private gradient estimator sees it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from dpfl.draws.noise import Normal
from dpfl.gradients import PerExampleGradients, finite
from dpfl.gradients.dirac import Dirac
from dpfl.gradients.flat import trained

Gradients = PerExampleGradients | Dirac


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

    An audit may put canaries into the batch and append their coordinates to the gradients:
    `differentiate` then returns them (dpfl.gradients.dirac), and `appended` says how many there
    are. Mechanisms return a vector of as many coordinates as the gradients have.
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
    differentiate: Callable[..., tuple[Gradients, Tensor]] = finite
    appended: int = 0

    @property
    def size(self) -> int:
        """Return how many numbers the model's trained parameters have."""
        return sum(p.numel() for p in trained(self.model))

    def gradients(self) -> tuple[Gradients, Tensor]:
        """Return the batch's gradients and their norms [L'], without those that are not finite."""
        return self.differentiate(self.model, self.loss_fn, self.inputs, self.targets)

    def public_gradients(self) -> tuple[PerExampleGradients, Tensor]:
        """Return the gradients of the public examples at the current weights, and their norms."""
        return self.gradients_of(self.public.inputs, self.public.targets)

    def gradients_of(self, inputs: Tensor, targets: Tensor) -> tuple[PerExampleGradients, Tensor]:
        """Return the same of examples that nobody must protect, without appended coordinates."""
        return finite(self.model, self.loss_fn, inputs, targets)
