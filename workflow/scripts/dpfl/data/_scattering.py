"""Scattering features: what two layers of fixed wavelets make of each picture alone.

Nothing is learned. Pictures are first normalised by the constants of their data set, which count as
public. So the features cost no privacy budget. Source: Bruna and Mallat 2013, arXiv 1203.1513,
computed by Kymatio. As inputs of private training: Tramer and Boneh 2021, arXiv 2011.11660. They
may be whitened by their covariance on synthetic pictures, which costs none either.
"""

from collections.abc import Callable
from types import ModuleType

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d

from dpfl.data import Arrays, _dead_leaves, _whitening
from dpfl.data._progress import Transform, of_all, one_thread

OCTAVES = 2
ANGLES = 8
PLANES_PER_CHUNK = 300


def features(
    arrays: Arrays, base: ModuleType, shrinkage: float | None = None, mirrored: bool = False
) -> Arrays:
    """Return pictures [N, C, H, W] as float16 features [N, 81 C, H / 4, W / 4].

    Everything else stays as it is. `base` is the data set of the pictures. They are normalised by
    its SCALE, MEAN and STD as for a network. The 81 channels of a colour are next to one another.
    They are a mean, 8 averages of the first order for either octave and 64 of the second for both.
    If `mirrored`, they are the mean of the picture's and its mirror image's. With a `shrinkage`
    they are whitened (dpfl.data._whitening) by dead-leaves pictures of this size. Computed on one
    thread, with a line to stderr every 5,000 pictures.
    """
    shape = arrays.train_inputs.shape[1:]
    with one_thread():
        transform = _transform(shape, base)
        if mirrored:
            transform = _mirrored(transform)
        if shrinkage is not None:
            whiten = _whitening.whitening(_synthetic(transform, shape), shrinkage)
            transform = _each(whiten, transform)
        return of_all("scattering", arrays, transform, PLANES_PER_CHUNK // shape[0])


def roots(arrays: Arrays, base: ModuleType, shrinkage: float) -> Arrays:
    """Return pictures as float16 roots of features [N, 81 C, H / 8, W / 8].

    Everything else stays as it is. Means of a picture's and its mirror image's features are
    averaged over two by two places. Their roots, with their signs, are scaled and whitened by
    dead-leaves pictures of this size. Computed as `features` are.
    """
    shape = arrays.train_inputs.shape[1:]
    with one_thread():
        transform = _rooted(_mirrored(_transform(shape, base)))
        whiten = _whitening.standardised(_synthetic(transform, shape), shrinkage)
        each = _each(whiten, transform)
        return of_all("scattering", arrays, each, PLANES_PER_CHUNK // shape[0])


def _transform(shape: tuple[int, ...], base: ModuleType) -> Transform:
    """Return what maps uint8 pictures [n, C, H, W] to features [n, 81 C, H / 4, W / 4]."""
    # By its full path: kymatio.torch also imports the 3-D transform, which scipy 1.17 broke.
    from kymatio.scattering2d.frontend.torch_frontend import ScatteringTorch2D

    scatter = ScatteringTorch2D(OCTAVES, tuple(shape[1:]), ANGLES)
    mean, std = (torch.tensor(value).view(-1, 1, 1) for value in (base.MEAN, base.STD))

    def transform(pictures: np.ndarray) -> Tensor:
        planes = torch.tensor(pictures, dtype=torch.float32)
        planes.div_(base.SCALE).sub_(mean).div_(std)
        return scatter(planes).flatten(1, 2)

    return transform


def _mirrored(transform: Transform) -> Transform:
    """Return what maps a picture and its mirror image, left to right, to the same features."""
    return lambda pictures: (transform(pictures) + transform(pictures[..., ::-1].copy())).div_(2)


def _rooted(transform: Transform) -> Transform:
    """Return what maps pictures to the signed roots of their features in cells of 2 x 2 places."""

    def rooted(pictures: np.ndarray) -> Tensor:
        cells = avg_pool2d(transform(pictures), 2)
        return cells.abs().sqrt_().mul_(cells.sign())

    return rooted


def _synthetic(transform: Transform, shape: tuple[int, ...]) -> Tensor:
    """Return the features of dead-leaves pictures [C, H, W]."""
    synthetic = _dead_leaves.pictures(_whitening.PICTURES, tuple(shape))
    chunk = PLANES_PER_CHUNK // shape[0]
    parts = [transform(synthetic[i : i + chunk]) for i in range(0, len(synthetic), chunk)]
    return torch.cat(parts)


def _each(whiten: Callable[[Tensor], Tensor], transform: Transform) -> Transform:
    # Picture by picture: a product of many rows may round by how many there are.
    return lambda pictures: torch.stack([whiten(one) for one in transform(pictures)])
