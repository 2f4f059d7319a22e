"""Relevance budgets (Zhou and Qian 2022): eps_j = share_j eps, less noise where relevance is.

Shares are those of layer-wise relevance (dpfl.relevance.layers), averaged over the public examples
at the weights that a round begins with. The map from features to coordinates is assumed. Where the
first layer with parameters is Linear, its inputs are the features. All weights of an input have its
share, everything else 1. Else the layers are: all weights of a layer have the layer's share. V
mixes all coordinates: its noise is not scaled. Where nothing has relevance, all are equally
relevant.
"""

import math

import torch
from torch import Tensor, nn

from dpfl.base.errors import UserError
from dpfl.gradients.step import Step
from dpfl.relevance.layers import input_relevance, layer_relevance, shares

UNPROVEN = ("the noise of the most relevant layers is below sigma",)


def switched(relevance: bool) -> "Relevance | None":
    """Return the relevances if they are switched on."""
    return Relevance() if relevance else None


class Relevance:
    """The factors on the noise of each coordinate, computed anew in the first step of a round."""

    def __init__(self):
        self._scale: Tensor | None = None

    def noise_scale(self, step: Step) -> Tensor:
        """Return 1 / share of each coordinate [D]; appended ones stand where relevance is highest.

        There a record has the least noise, as the budgets allow. UserError if a parameter is
        frozen.
        """
        if step.number == 0 or self._scale is None:
            if not all(p.requires_grad for p in step.model.parameters()):
                raise UserError("relevance: a parameter is frozen, expected none")
            layers = [m for m in step.model.modules() if list(m.parameters(recurse=False))]
            by_input = isinstance(layers[0], nn.Linear)
            scales = _by_input(step, layers) if by_input else _by_layer(step, layers)
            least = min(float(scale.min()) for scale in scales)
            self._scale = torch.cat([*scales, scales[0].new_full((step.appended,), least)])
        return self._scale


def _by_input(step: Step, layers: list[nn.Module]) -> list[Tensor]:
    """Return the factors of the first layer's weights, and 1 for all other coordinates."""
    scale = _inverse_shares(input_relevance(step.model, step.public.inputs, step.public.targets))
    weights = layers[0].weight.numel()
    return [
        scale.repeat(weights // len(scale)),
        scale.new_ones(step.size - weights),
    ]


def _by_layer(step: Step, layers: list[nn.Module]) -> list[Tensor]:
    """Return the factor of each layer for all of its coordinates."""
    scale = _inverse_shares(layer_relevance(step.model, step.public.inputs, step.public.targets))
    sizes = [sum(p.numel() for p in layer.parameters(recurse=False)) for layer in layers]
    return [factor.expand(size) for factor, size in zip(scale, sizes, strict=True)]


def _inverse_shares(relevance: Tensor) -> Tensor:
    """Return 1 / share [features] of the relevances [features, L], averaged over the examples."""
    found = relevance.mean(dim=1)
    if not 0 < float(found.sum()) < math.inf:  # of a network that is dead or has diverged
        found = torch.ones_like(found)
    return (1 / shares(found)).to(found)
