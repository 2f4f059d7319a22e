"""Synthetic pictures that owe nothing to any data set: discs that fall on one another.

A dead-leaves picture has what natural pictures have: flat areas with sharp edges, of all sizes. Its
power spectrum falls like a power of the frequency (Lee, Mumford and Huang 2001). What is computed
from such pictures alone, such as a covariance of features, is no release and costs no privacy.
"""

import numpy as np

from dpfl.draws import streams

LEAVES = 2000  # enough that less than one pixel in a thousand is left of the ground
SMALLEST, LARGEST = 1 / 32, 1 / 2  # radii, of the picture's larger side
PICTURES_PER_CHUNK = 50  # whose planes stay in a processor's cache


def pictures(count: int, shape: tuple[int, int, int]) -> np.ndarray:
    """Return uint8 pictures [count, *shape], of C colours, H rows and W columns.

    The radius of a disc has the density r^-3 between the smallest and the largest. Its centre and
    its colours are uniform. Every picture has a stream of its own: more of them begin with the same
    ones.
    """
    found = np.empty((count, *shape), np.uint8)
    for first in range(0, count, PICTURES_PER_CHUNK):
        numbers = range(first, min(first + PICTURES_PER_CHUNK, count))
        found[numbers.start : numbers.stop] = _painted(numbers, shape)
    return found


def _painted(numbers: range, shape: tuple[int, int, int]) -> np.ndarray:
    """Return the pictures of these numbers; leaf 0 is the ground, later ones hide earlier ones."""
    colours, height, width = shape
    generators = [streams.rng("dead leaves", *shape, number) for number in numbers]
    radius, down, right = _leaves(generators, height, width)
    paint = np.stack([rng.integers(256, size=(LEAVES, colours)) for rng in generators])
    top = np.zeros((len(numbers), height, width), np.int64)
    rows, columns = np.arange(height)[:, None], np.arange(width)
    for leaf in range(1, LEAVES):
        y, x, r = (a[:, leaf, None, None] for a in (down, right, radius))
        np.copyto(top, leaf, where=(rows - y) ** 2 + (columns - x) ** 2 <= r**2)
    picture = np.arange(len(numbers))[:, None, None]
    return paint[picture, top].transpose(0, 3, 1, 2).astype(np.uint8)


def _leaves(generators: list[np.random.Generator], height: int, width: int) -> np.ndarray:
    """Return radii, rows and columns of the centres [3, pictures, leaves], in pixels."""
    side = max(height, width)
    low, high = SMALLEST * side, LARGEST * side
    uniform = np.stack([rng.random((3, LEAVES)) for rng in generators], axis=1)
    # The inverse of the distribution function of the density r^-3.
    radius = (low**-2 - uniform[0] * (low**-2 - high**-2)) ** -0.5
    # Centres lie beyond the edges too, so that an edge is covered as the middle is.
    place = [(n + 2 * high) * u - high for n, u in zip((height, width), uniform[1:], strict=True)]
    return np.stack([radius, *place]).astype(np.float32)
