"""Features of one layer of filters that see no data: patches of synthetic pictures.

After Coates, Lee and Ng (2011), whose filters are learned from patches of the pictures themselves.
Here the whitening of patches, the filters and the whitening of channels come from dead-leaves
pictures (dpfl.data._dead_leaves). Nothing else is fitted. So a picture's features depend on that
picture alone and cost no privacy budget.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from dpfl.data import Arrays, _dead_leaves, _whitening
from dpfl.data._progress import of_all, one_thread

FILTERS = 512
SIDE = 6  # of a patch, in pixels
CELLS = 2  # a side of the grid of cells that responses are averaged over
THRESHOLD = 0.5
CONTRAST = 10.0  # added to a patch's variance, whose units are those of 0 to 255
PATCH_SHRINKAGE = 0.1  # added to the variances of normalised patches
CHANNEL_SHRINKAGE = 0.1  # of the whitening of channels, of their mean variance
PATCHES_PER_PICTURE = 50  # for the covariance of patches


def features(arrays: Arrays) -> Arrays:
    """Return float16 features [N, 2 FILTERS, 2, 2] of pictures [N, C, H, W], all else as it is.

    A channel is a filter and a sign. Computed on one thread, a picture at a time, with a line to
    stderr every 5,000 pictures.
    """
    with one_thread():
        transform = _transform(arrays.train_inputs.shape[1:])
        return of_all("patches", arrays, lambda pictures: transform(pictures[0])[None], chunk=1)


def _transform(shape: tuple[int, ...]) -> Callable[[np.ndarray], Tensor]:
    """Return what maps a uint8 picture [C, H, W] to its whitened features [2 FILTERS, 2, 2]."""
    synthetic = _dead_leaves.pictures(_whitening.PICTURES, tuple(shape))
    bank = _bank(synthetic)
    seen = torch.stack([bank(picture) for picture in synthetic])
    whiten = _whitening.standardised(seen, CHANNEL_SHRINKAGE)
    return lambda picture: whiten(bank(picture))


@dataclass(frozen=True)
class Bank:
    """Filters [2 F, D] on normalised patches of D numbers, with their offsets [2 F, 1].

    The second half are the first F, mirrored left to right.
    """

    filters: Tensor
    offsets: Tensor

    def __call__(self, picture: np.ndarray) -> Tensor:
        """Return the roots of the pooled responses of a picture [C, H, W]: [2 F, 2, 2].

        A response r becomes max(0, r - t) and max(0, -r - t), averaged over a grid of cells. A
        filter's response is averaged with its mirrored twin's in the mirrored cell. So a picture
        and its mirror image have the same features.
        """
        shape = [n - SIDE + 1 for n in picture.shape[1:]]
        patches = _normalised(_patches(picture))
        shrunk = functional.softshrink(torch.addmm(self.offsets, self.filters, patches), THRESHOLD)
        # With s = max(0, r - t) - max(0, -r - t), the two are (|s| + s) / 2 and (|s| - s) / 2.
        pools = _pools(*shape)
        both, either = shrunk @ pools, shrunk.abs_() @ pools
        cells = torch.stack([either + both, either - both]).div_(2).clamp_(min=0)
        cells = cells.view(2, -1, CELLS, CELLS)
        plain, mirrored = cells.chunk(2, dim=1)
        return (plain + mirrored.flip(-1)).div_(2).sqrt_().flatten(0, 1)


@cache
def _pools(height: int, width: int) -> Tensor:
    """Return the averages over the cells of a grid as a matrix [height * width, cells]."""
    places = torch.eye(height * width).view(-1, 1, height, width)
    return functional.adaptive_avg_pool2d(places, CELLS).flatten(1)


def _bank(pictures: np.ndarray) -> Bank:
    """Return patches of these pictures as filters: whitened (ZCA), of norm 1, evenly chosen."""
    colours = pictures.shape[1]
    some = torch.cat([_some(_normalised(_patches(picture))) for picture in pictures], dim=1).T
    mean = some.mean(0)
    covariance = torch.cov(some.double().T)
    values, vectors = torch.linalg.eigh(covariance)
    zca = ((vectors * (values.clamp(min=0) + PATCH_SHRINKAGE).rsqrt()) @ vectors.T).float()
    chosen = (some[:: len(some) // FILTERS][:FILTERS] - mean) @ zca
    filters = chosen / chosen.norm(dim=1, keepdim=True) @ zca
    # Mirrored as they act: what one says of a picture its twin says of the mirror image.
    twins = filters.view(-1, colours, SIDE, SIDE).flip(-1).flatten(1)
    return Bank(torch.cat([filters, twins]), -(filters @ mean).repeat(2)[:, None])


def _some(patches: Tensor) -> Tensor:
    """Return some of a picture's patches [D, P], evenly spread."""
    chosen = torch.linspace(0, patches.shape[1] - 1, PATCHES_PER_PICTURE).long()
    return patches[:, chosen]


def _patches(picture: np.ndarray) -> Tensor:
    """Return all patches of a picture as columns [D, P]."""
    return functional.unfold(torch.tensor(picture, dtype=torch.float32)[None], SIDE)[0]


def _normalised(patches: Tensor) -> Tensor:
    """Return every patch less its mean, over the root of its variance and a constant."""
    centred = patches - patches.mean(0)
    return centred / (centred.square().mean(0) + CONTRAST).sqrt_()
