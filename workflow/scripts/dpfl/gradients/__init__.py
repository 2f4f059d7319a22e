"""Per-example gradients, of most layers without a second backward pass.

It takes one forward, and one backward down to the layer outputs. These hold what each layer's
per-example gradients are made of. Norms, inner products and any weighted sum follow from it. For
Linear see Goodfellow 2015, arXiv 1510.01799, for Conv2d dpfl.gradients.layer_gradients. All other
parameters, and which way each of them takes, are in dpfl.gradients.routing.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from dpfl.gradients.convolution import SHORT
from dpfl.gradients.losses import LossFunction
from dpfl.gradients.parameter_gradients import Piece, Zero, as_matrix
from dpfl.gradients.routing import decided, require_true_gradients, routes

__all__ = ["PerExampleGradients", "finite", "require_true_gradients", "routes"]


class PerExampleGradients:
    """The gradients g_i of a batch, a matrix G [L, D] that only rows() writes out.

    `loss_fn(outputs, targets)` gives one loss per example [L]. A scalar loss works too, slower: it
    is then applied to every example alone. Parameters are those that are trained, in the order of
    model.parameters(). The model and its .grad are left as they were. UserError names a layer whose
    per-example gradient is not known.
    """

    def __init__(
        self, model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
    ) -> None:
        chosen = decided(model, loss_fn, inputs, targets)
        found = chosen.pieces(model, loss_fn, inputs, targets) if len(inputs) else {}
        # Typed like the parameters: features may be stored in float16, gradients never are.
        self._nothing = next(model.parameters()).detach().new_zeros(len(inputs))
        self._shapes = list(chosen.shapes.values())  # in the order of the parameters
        self._pieces: list[Piece] = [
            found.get(name) or Zero(shape, self._nothing) for name, shape in chosen.shapes.items()
        ]

    @property
    def parameter_count(self) -> int:
        """Return P, how many tensors the trained parameters are."""
        return len(self._shapes)

    def norms(self) -> Tensor:
        """Return |g_i| [L], over all parameters together; always the same tensor."""
        return self._norms

    def parameter_norms(self) -> Tensor:
        """Return the norm of every parameter's part of g_i [P, L]; always the same tensor.

        In the order of the parameters. The root of the sum of a column's squares is |g_i|.
        """
        return self._parameter_norms

    @cached_property
    def _parameter_norms(self) -> Tensor:
        return torch.stack([piece.norms() for piece in self._pieces])

    @cached_property
    def _norms(self) -> Tensor:
        norms = torch.linalg.vector_norm(self._parameter_norms, dim=0)
        if (short := norms < SHORT).any():  # squares may have underflowed
            exact = torch.linalg.vector_norm(self._parameter_norms[:, short].double(), dim=0)
            norms[short] = exact.to(norms.dtype)
        return norms

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return sum_i w_i g_i for weights [L], shaped like the parameters."""
        return [piece.weighted_sum(weights) for piece in self._pieces]

    def clipped_sum(self, clip_norm: float) -> list[Tensor]:
        """Return sum_i g_i min(1, C / |g_i|), shaped like the parameters.

        One example moves it by at most C (Abadi et al. 2016, algorithm 1) if all norms are finite.
        """
        return self.weighted_sum((clip_norm / self.norms()).clamp_(max=1))

    def clipped_sum_by_parameter(self, bounds: Sequence[float]) -> list[Tensor]:
        """Return the sum where every parameter's part of g_i is clipped to a bound of its own [P].

        Bounds are above 0; the sum is shaped like the parameters. One example moves it by at
        most the root of the sum of the bounds' squares (McMahan et al. 2018, arXiv 1710.06963,
        per-layer clipping).
        """
        parts = zip(self._pieces, bounds, self.parameter_norms(), strict=True)
        return [piece.weighted_sum((c / norms).clamp_(max=1)) for piece, c, norms in parts]

    def combinations(self, weights: Tensor) -> Tensor:
        """Return the weighted sums [k, D] of weights [k, L], flat in the order of parameters()."""
        return torch.cat([as_matrix(piece.combinations(weights)) for piece in self._pieces], dim=1)

    def gram(self) -> Tensor:
        """Return G G^T [L, L], symmetric to the bit.

        Clip by norms(), not by the root of its diagonal, which may have lost its digits.
        """
        first, *rest = self._pieces
        total = first.gram()
        for piece in rest:
            total += piece.gram()
        return total

    def inner(self, vectors: Tensor) -> Tensor:
        """Return <g_i, h_a> [L, k] for vectors h_a [k, D], flat in the order of the parameters."""
        total = vectors.new_zeros(len(self._nothing), len(vectors))
        for piece, part, shape in self._parts(vectors):
            total += piece.inner(part.reshape(len(part), *shape))
        return total

    def rows(self) -> Tensor:
        """Return G [L, D] written out, flat in the order of the parameters."""
        size = sum(shape.numel() for shape in self._shapes)
        rows = self._nothing.new_empty(len(self._nothing), size)
        for piece, part, shape in self._parts(rows):
            part.view(len(part), *shape).copy_(piece.written())
        return rows

    def _parts(self, flat: Tensor) -> Iterator[tuple[Piece, Tensor, torch.Size]]:
        """Return each piece with its columns of `flat` [n, D] and the shape of its parameter."""
        parts = flat.split([shape.numel() for shape in self._shapes], dim=1)
        return zip(self._pieces, parts, self._shapes, strict=True)


def finite(
    model: nn.Module,
    loss_fn: LossFunction,
    inputs: Tensor,
    targets: Tensor,
    build: Callable[..., Any] = PerExampleGradients,
) -> tuple[Any, Tensor]:
    """Return the gradients of those examples whose norm is finite, and these norms [L'].

    The square of the norm, which the Gram matrix holds, must be finite too. Whether an example is
    left out depends on no other example. Errors as in PerExampleGradients, which is what `build`
    makes of a batch, or what answers like it.
    """
    gradients = build(model, loss_fn, inputs, targets)
    norms = gradients.norms()
    kept = norms.square().isfinite()
    if kept.all():
        return gradients, norms
    return finite(model, loss_fn, inputs[kept], targets[kept], build)
