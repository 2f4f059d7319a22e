"""Per-example gradients of a large batch, of which a few examples at a time are in memory."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import NoReturn

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients import PerExampleGradients, finite
from dpfl.gradients.losses import LossFunction


def microbatched(size: int) -> Callable[..., tuple["Microbatches", Tensor]]:
    """Return what differentiates as `finite` does, `size` examples at a time."""
    return partial(finite, build=partial(Microbatches, size=size))


class Microbatches(PerExampleGradients):
    """The gradients g_i of a batch, computed anew, `size` examples at a time, when asked for.

    It answers as PerExampleGradients does, but for gram() and rows(), which need all examples at
    once: UserError. So it fits mechanisms that add examples up. Sums are equal up to rounding. A
    step that asks for norms and then for a sum takes twice the time.
    """

    def __init__(
        self, model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor, size: int
    ) -> None:
        self._build = partial(PerExampleGradients, model, loss_fn)
        self._batches = list(zip(inputs.split(size), targets.split(size), strict=True))

    @property
    def parameter_count(self) -> int:
        """Return P, how many tensors the trained parameters are."""
        return len(self.parameter_norms())

    @cached_property
    def _parameter_norms(self) -> Tensor:
        return torch.cat([each.parameter_norms() for each in self._each()], dim=1)

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return sum_i w_i g_i for weights [L], shaped like the parameters."""
        return _added(each.weighted_sum(part) for each, part in self._with(weights))

    def clipped_sum_by_parameter(self, bounds: Sequence[float]) -> list[Tensor]:
        """Return the sum where every parameter's part is clipped to a bound of its own [P]."""
        return _added(each.clipped_sum_by_parameter(bounds) for each in self._each())

    def combinations(self, weights: Tensor) -> Tensor:
        """Return the weighted sums [k, D] of weights [k, L]."""
        return _added([each.combinations(part)] for each, part in self._with(weights))[0]

    def inner(self, vectors: Tensor) -> Tensor:
        """Return <g_i, h_a> [L, k] for vectors h_a [k, D]."""
        return torch.cat([each.inner(vectors) for each in self._each()])

    def gram(self) -> NoReturn:
        """Raise UserError."""
        raise UserError(
            "microbatch: the mechanism compares the examples of a batch; expected one that adds "
            "them up"
        )

    rows = gram

    def _each(self) -> Iterator[PerExampleGradients]:
        return (self._build(*batch) for batch in self._batches)

    def _with(self, weights: Tensor) -> Iterator[tuple[PerExampleGradients, Tensor]]:
        """Yield the gradients of each part of the batch, with their part of weights [..., L]."""
        parts = weights.split([len(targets) for _, targets in self._batches], dim=-1)
        return zip(self._each(), parts, strict=True)


def _added(parts: Iterator[list[Tensor]]) -> list[Tensor]:
    """Return the sum of lists of tensors, one after another."""
    total = next(parts)
    for part in parts:
        torch._foreach_add_(total, part)
    return total
