"""Relevance budgets of source 003: eps_j = share_j eps, so that relevant layers get less noise.

Shares are those of layer-wise relevance (`_layer_relevance`), averaged over the public examples at
the weights that a round begins with. What decides is a layer's share: the map from features to
coordinates is not printed for convolutions (assumed: by layer). V mixes all of them: its noise is
not scaled. Where no layer has any, all are equally relevant.
"""

import math

import torch
from torch import Tensor

from dpfl.errors import UserError
from dpfl.mechanisms._layer_relevance import layer_relevance, shares
from dpfl.step import Step


def switched(relevance: bool) -> "Relevance | None":
    """Return the relevances if they are switched on; UserError unless it is true or false."""
    if not isinstance(relevance, bool):
        raise UserError(f"mechanism: relevance is {relevance!r}; it must be true or false")
    return Relevance() if relevance else None


class Relevance:
    """The factors on the noise of each coordinate, computed anew in the first step of a round."""

    def __init__(self):
        self._scale: Tensor | None = None

    def noise_scale(self, step: Step) -> Tensor:
        """Return 1 / share of each coordinate's layer [D]."""
        if step.number == 0 or self._scale is None:
            found = layer_relevance(step.model, step.public.inputs, step.public.targets).mean(dim=1)
            if not 0 < float(found.sum()) < math.inf:  # of a network that is dead or has diverged
                found = torch.ones_like(found)
            own = [list(layer.parameters(recurse=False)) for layer in step.model.modules()]
            sizes = torch.tensor([sum(p.numel() for p in some) for some in own if some])
            scale = (1 / shares(found)).to(found)
            self._scale = scale.repeat_interleave(sizes.to(scale.device))
        return self._scale
