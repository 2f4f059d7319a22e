"""Per-example gradients without a second backward pass.

One forward, one backward down to the layer outputs; what each layer's per-example gradients are
made of then gives their norms and any weighted sum of them (Goodfellow 2015, arXiv 1510.01799,
for Linear; routes for Conv2d in dpfl.gradients.routes).
"""

import torch
from torch import Tensor, nn

from dpfl.gradients.capture import LossFunction, capture
from dpfl.gradients.routes import ROUTES, Piece

__all__ = ["PerExampleGradients", "clipped_sum"]


def clipped_sum(
    model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor, clip_norm: float
) -> tuple[list[Tensor], Tensor]:
    """Return sum_i g_i min(1, C / |g_i|), shaped like model.parameters(), and the norms |g_i| [L].

    An example whose gradient is not finite adds nothing, so that one example always moves the sum
    by at most `clip_norm` (Abadi et al. 2016, algorithm 1). Errors as in PerExampleGradients.
    """
    gradients = PerExampleGradients(model, loss_fn, inputs, targets)
    norms = gradients.norms()
    finite = norms.isfinite()
    if not finite.all():
        total, _ = clipped_sum(model, loss_fn, inputs[finite], targets[finite], clip_norm)
        return total, norms
    return gradients.weighted_sum((clip_norm / norms).clamp_(max=1)), norms


class PerExampleGradients:
    """The gradients g_i of a batch, a matrix [L, D] that is never written out whole.

    `loss_fn(outputs, targets)` gives one loss per example [L]; a scalar loss works too, slower:
    it is then applied to every example alone. The model and its .grad are left as they were.
    UserError names a layer whose per-example gradient is not known.
    """

    def __init__(
        self, model: nn.Module, loss_fn: LossFunction, inputs: Tensor, targets: Tensor
    ) -> None:
        self._parameters = list(model.parameters())
        self._no_norms = inputs.new_zeros(len(inputs))
        self._pieces: dict[nn.Parameter, Piece] = {}
        if len(inputs):
            for layer, x, grads in capture(model, loss_fn, inputs, targets, tuple(ROUTES)):
                self._pieces.update(ROUTES[type(layer)](layer, x, grads))

    def norms(self) -> Tensor:
        """Return |g_i| [L], over all parameters together."""
        rows = [piece.norms() for piece in self._pieces.values()]
        return torch.linalg.vector_norm(torch.stack(rows), dim=0) if rows else self._no_norms

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return sum_i w_i g_i for weights [L], shaped like model.parameters()."""
        sums = {p: piece.weighted_sum(weights) for p, piece in self._pieces.items()}
        return [sums[p] if p in sums else torch.zeros_like(p) for p in self._parameters]
