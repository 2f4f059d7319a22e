"""dpsgd-opacus: the gradients, clipping and scaling of Opacus, as a reference row for dpsgd.

Its loader is not used. Batches are the Poisson batches, and noise the stream, of every other
method, so that both rows pair. (Opacus' own noise would come from a generator with a 32-bit seed.)
"""

from copy import deepcopy
from dataclasses import dataclass, field

import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer

from dpfl import clippings
from dpfl.base.errors import UserError
from dpfl.contracts.protocols import ClippingRule
from dpfl.contracts.release import Release
from dpfl.draws.gaussian import noisy_sum
from dpfl.draws.noise import Normal
from dpfl.gradients import losses
from dpfl.gradients.flat import joined, trained
from dpfl.gradients.step import Step

COST = 2.4
NOISE_IS_Z_C = True
OWN_GRADIENTS = True
BLIND = ("the release: Opacus differentiates by itself, no coordinate can be appended",)


class _Streamed(DPOptimizer):
    """Opacus' optimizer, its noise from a stream."""

    normal: Normal

    def add_noise(self) -> None:
        """Add N(0, (z C)^2) to every parameter's sum, from one draw as in dpsgd."""
        spread = self.noise_multiplier * self.max_grad_norm
        sizes = [p.numel() for p in self.params]
        for p, noise in zip(self.params, self.normal(sum(sizes)).split(sizes), strict=True):
            p.grad = noisy_sum(p.summed_grad, noise.view_as(p), spread).to(p)


@dataclass
class OpacusDPSGD:
    """DP-SGD through Opacus, in a copy of the model that its hooks stay in."""

    clipping: ClippingRule
    _copy: GradSampleModule | None = field(default=None, repr=False)

    @property
    def clippings(self) -> tuple[ClippingRule, ...]:
        """Return the rule, whose bound never moves."""
        return (self.clipping,)

    def release(self, noise_multiplier: float, expected_batch: float) -> Release:
        """Return the one Gaussian that a step releases."""
        return Release((noise_multiplier,))

    def estimate(self, step: Step) -> torch.Tensor:
        """Return the noisy mean gradient, flat [D]; an empty batch releases the noise alone.

        UserError for appended coordinates: Opacus differentiates by itself.
        """
        if step.appended:
            raise UserError("mechanism: dpsgd-opacus cannot append coordinates; expected dpsgd")
        if self._copy is None:
            self._copy = GradSampleModule(deepcopy(step.model), loss_reduction="sum")
        with torch.no_grad():
            pairs = zip(self._copy.parameters(), step.model.parameters(), strict=True)
            for own, current in pairs:
                own.copy_(current)
        optimizer = _Streamed(
            torch.optim.SGD(self._copy.parameters(), lr=0.0),
            noise_multiplier=step.noise_multiplier,
            max_grad_norm=self.clipping.clip_norm,
            expected_batch_size=None,
            loss_reduction="sum",
        )
        optimizer.normal = step.normal
        optimizer.zero_grad()
        losses.of_examples(step.loss_fn, self._copy(step.inputs), step.targets).sum().backward()
        _drop_infinite([p.grad_sample for p in trained(self._copy)])
        optimizer.pre_step()
        total = joined(p.grad for p in trained(self._copy))
        return total.div(step.expected_batch)


def _drop_infinite(samples: list[torch.Tensor]) -> None:
    """Set to 0 the gradients of examples that are not finite: Opacus would make the sum NaN."""
    finite = torch.stack([s.flatten(1).isfinite().all(1) for s in samples]).all(0)
    for sample in samples:
        sample[~finite] = 0


def build(clipping: dict) -> OpacusDPSGD:
    """Build the estimator; UserError unless its bound is fixed."""
    if clipping["rule"] != "fixed":
        raise UserError(f"mechanism: dpsgd-opacus clips by {clipping['rule']!r}; it must be fixed")
    return OpacusDPSGD(clippings.build(clipping))
