"""Channels of features made uncorrelated by the covariance that they have on synthetic pictures."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

PICTURES = 2000
"""Synthetic pictures whose features a covariance is computed from."""


@dataclass(frozen=True)
class Whitening:
    """An affine map of the channels, x -> W (x - m), the same in every place."""

    matrix: Tensor
    shift: Tensor

    def __call__(self, features: Tensor) -> Tensor:
        """Return the features of one picture [C, ...], whitened; float32."""
        flat = features.flatten(1)
        return torch.addmm(self.shift, self.matrix, flat).view(features.shape)


def whitening(features: Tensor, shrinkage: float) -> Whitening:
    """Return the whitening by features [N, C, ...], all places taken together.

    W = (S + shrinkage (tr S / C) I)^(-1/2), S their covariance; computed in float64.
    """
    rows = features.double().flatten(2).transpose(1, 2).flatten(0, 1)
    mean = rows.mean(0)
    rows.sub_(mean)
    covariance = rows.T @ rows / len(rows)
    values, vectors = torch.linalg.eigh(covariance)
    scales = (values.clamp(min=0) + shrinkage * values.mean()).rsqrt()
    matrix = (vectors * scales) @ vectors.T
    return Whitening(matrix.float(), -(matrix @ mean).float()[:, None])


def standardised(features: Tensor, shrinkage: float) -> Callable[[Tensor], Tensor]:
    """Return the whitening by features [N, C, H, W] whose channels are first scaled to deviation 1.

    It maps the features of one picture [C, H, W].
    """
    deviation = features.std(dim=(0, 2, 3), correction=0).clamp(min=1e-6).view(-1, 1, 1)
    whiten = whitening(features / deviation, shrinkage)
    return lambda one: whiten(one / deviation)
