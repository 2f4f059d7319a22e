"""Patch features of CIFAR-10 and roots of its scattering features, side by side.

Both see of other pictures synthetic ones alone (dpfl.data._patches, dpfl.data._scattering).
"""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpfl import data
from dpfl.data import _patches, _scattering, cifar10

if TYPE_CHECKING:
    import numpy as np

    from dpfl.data import Arrays

BASE = "cifar10"
TRAIN_EXAMPLES = 50000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (1996, 2, 2)
DTYPE = "float16"

_SHRINKAGE = 0.1


def read(data_dir: Path) -> "Arrays":
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    pictures = data.read(BASE, data_dir)
    patches = _patches.features(pictures)
    scattered = _scattering.roots(pictures, cifar10, _SHRINKAGE)
    inputs = {
        key: _beside(getattr(patches, key), getattr(scattered, key))
        for key in ("train_inputs", "test_inputs")
    }
    return replace(pictures, **inputs)


def _beside(patches: "np.ndarray", scattered: "np.ndarray") -> "np.ndarray":
    """Return [N, C + 4 D, 2, 2] of [N, C, 2, 2] and [N, D, 4, 4], whose places become channels."""
    import numpy as np
    import torch
    from torch.nn.functional import pixel_unshuffle

    folded = pixel_unshuffle(torch.from_numpy(scattered), 2).numpy()
    return np.concatenate([patches, folded], axis=1)
