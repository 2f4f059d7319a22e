"""Per-example gradients without a second backward pass.

One forward, one backward down to the layer outputs; what each layer's per-example gradients are
made of then gives their norms and any weighted sum of them (Goodfellow 2015, arXiv 1510.01799,
for Linear; routes for Conv2d in dpfl.gradients.routes).
"""

import math

import torch
from torch import Tensor, nn

from dpfl.gradients.passes import LossFunction, capture, layers_of
from dpfl.gradients.routes import ROUTES, Piece, Zero

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
    if len(norms) and not math.isfinite(norms.max()):
        finite = norms.isfinite()
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
        layers = layers_of(model, tuple(ROUTES))
        found = capture(model, layers, loss_fn, inputs, targets) if len(inputs) else {}
        nothing = inputs.new_zeros(len(inputs))
        self._pieces: list[Piece] = []  # in the order of model.parameters()
        for layer in layers:
            if layer in found:
                self._pieces += ROUTES[type(layer)](layer, *found.pop(layer))
            else:
                self._pieces += [Zero(p, nothing) for p in layer.parameters(recurse=False)]

    def norms(self) -> Tensor:
        """Return |g_i| [L], over all parameters together."""
        return torch.linalg.vector_norm(torch.stack([p.norms() for p in self._pieces]), dim=0)

    def weighted_sum(self, weights: Tensor) -> list[Tensor]:
        """Return sum_i w_i g_i for weights [L], shaped like model.parameters()."""
        return [piece.weighted_sum(weights) for piece in self._pieces]
