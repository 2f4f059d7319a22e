"""Per-example gradients, and those of canaries, each of which is one appended coordinate."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from dpfl.gradients import PerExampleGradients


class Dirac:
    """The gradients G [L, D], zero in m further columns, and h canaries below them.

    Canary j has the gradient `length` * e_{D+j}, so a row is held as its index alone. `hits` [h]
    are the columns, each at most once. It answers as PerExampleGradients does, with rows of L
    examples and then h canaries. What it computes of the examples are the very same calls.
    """

    def __init__(self, gradients: PerExampleGradients, hits: Tensor, length: float, columns: int):
        self._gradients, self._hits = gradients, hits
        self._length, self._columns = length, columns
        own = gradients.norms()
        self._norms = torch.cat([own, own.new_full((len(hits),), length)])
        self._examples = len(own)

    @property
    def parameter_count(self) -> int:
        """Return P; the appended columns are no parameter."""
        return self._gradients.parameter_count

    def norms(self) -> Tensor:
        """Return the norms [L + h]; always the same tensor."""
        return self._norms

    def parameter_norms(self) -> Tensor:
        """Return the norms by parameter [P + 1, L + h]; the last row is of the appended columns.

        There examples have 0, and canaries have nothing else.
        """
        own = self._gradients.parameter_norms()
        canaries = own.new_full((1, len(self._hits)), self._length)
        return torch.block_diag(own, canaries)

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return the sum with weights [L + h], shaped like model.parameters() and a vector [m]."""
        own, others = weights[: self._examples], weights[self._examples :]
        return [*self._gradients.weighted_sum(own), self._spread(others)]

    def clipped_sum(self, clip_norm: float) -> list[Tensor]:
        """Return the sum of rows clipped to C, in the same shapes."""
        return self.weighted_sum((clip_norm / self._norms).clamp(max=1))

    def clipped_sum_by_parameter(self, bounds: Sequence[float]) -> list[Tensor]:
        """Return the sum of rows clipped by parameter, in the same shapes.

        A canary has no part in any parameter. It is clipped as a whole, to the root of the sum of
        the bounds' squares. An example can move the sum by as much.
        """
        whole = self._norms.new_full((len(self._hits),), math.hypot(*bounds) / self._length)
        return [
            *self._gradients.clipped_sum_by_parameter(bounds),
            self._spread(whole.clamp_(max=1)),
        ]

    def combinations(self, weights: Tensor) -> Tensor:
        """Return the weighted sums [k, D + m] of weights [k, L + h]."""
        own, others = weights[:, : self._examples], weights[:, self._examples :]
        return torch.cat([self._gradients.combinations(own), self._spread(others)], dim=1)

    def gram(self) -> Tensor:
        """Return the inner products of rows [L + h, L + h]."""
        own = self._gradients.gram()
        return torch.block_diag(own, torch.eye(len(self._hits)).to(own) * self._length**2)

    def inner(self, vectors: Tensor) -> Tensor:
        """Return the inner products [L + h, k] with vectors [k, D], which no canary has a part in.

        A basis that is data-free has no direction in the appended columns.
        """
        found = self._gradients.inner(vectors)
        return torch.cat([found, found.new_zeros(len(self._hits), len(vectors))])

    def rows(self) -> Tensor:
        """Return the matrix [L + h, D + m] written out."""
        own = self._gradients.rows()
        below = self._spread(torch.eye(len(self._hits)).to(own))
        left = torch.cat([own, own.new_zeros(len(below), own.shape[1])])
        return torch.cat([left, torch.cat([own.new_zeros(len(own), self._columns), below])], dim=1)

    def _spread(self, weights: Tensor) -> Tensor:
        """Return length * weights [..., h] at the canaries' columns [..., m], 0 elsewhere."""
        spread = weights.new_zeros(*weights.shape[:-1], self._columns)
        return spread.index_copy_(-1, self._hits, weights * self._length)
