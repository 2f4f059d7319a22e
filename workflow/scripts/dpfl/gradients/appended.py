"""Per-example gradients with further coordinates, which belong to no parameter."""

import torch
from torch import Tensor

from dpfl.gradients import PerExampleGradients


class Appended:
    """The matrix [G, A] of gradients G [L, D] and appended columns A [L, m], for mechanisms.

    It answers as PerExampleGradients does. An audit watches coordinates of its own in this way;
    what is public has zeros there.
    """

    def __init__(self, gradients: PerExampleGradients, columns: Tensor):
        self._gradients, self._columns = gradients, columns
        self._norms = torch.hypot(gradients.norms(), torch.linalg.vector_norm(columns, dim=1))

    def norms(self) -> Tensor:
        """Return the norms [L] of whole rows; always the same tensor."""
        return self._norms

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return the sum with weights [L], shaped like model.parameters() and a vector [m]."""
        return [*self._gradients.weighted_sum(weights), weights @ self._columns]

    def clipped_sum(self, clip_norm: float) -> list[Tensor]:
        """Return the sum of rows clipped to C as a whole, in the same shapes."""
        return self.weighted_sum((clip_norm / self._norms).clamp(max=1))

    def combinations(self, weights: Tensor) -> Tensor:
        """Return the weighted sums [k, D + m] of weights [k, L]."""
        return torch.cat([self._gradients.combinations(weights), weights @ self._columns], dim=1)

    def gram(self) -> Tensor:
        """Return the inner products of rows [L, L]."""
        return self._gradients.gram() + self._columns @ self._columns.t()

    def inner(self, vectors: Tensor) -> Tensor:
        """Return the inner products [L, k] with vectors [k, D + m]."""
        size = vectors.shape[1] - self._columns.shape[1]
        own, appended = vectors[:, :size], vectors[:, size:]
        return self._gradients.inner(own) + self._columns @ appended.t()

    def rows(self) -> Tensor:
        """Return the matrix [L, D + m] written out."""
        return torch.cat([self._gradients.rows(), self._columns], dim=1)
