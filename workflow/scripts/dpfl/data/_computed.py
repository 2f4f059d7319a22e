"""What turns pictures into features, by what derived.yaml calls it."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import torch
from torch.nn.functional import pixel_unshuffle

from dpfl.data import Arrays, _patches, _scattering


def _patches_of(pictures: Arrays, base: ModuleType) -> Arrays:
    return _patches.features(pictures)


def _patches_and_scattering(pictures: Arrays, base: ModuleType, shrinkage: float) -> Arrays:
    patches = _patches.features(pictures)
    scattered = _scattering.roots(pictures, base, shrinkage)
    inputs = {
        key: _beside(getattr(patches, key), getattr(scattered, key))
        for key in ("train_inputs", "test_inputs")
    }
    return replace(pictures, **inputs)


def _beside(patches: np.ndarray, scattered: np.ndarray) -> np.ndarray:
    """Join [N, C, 2, 2] and [N, D, 4, 4], whose places become channels: [N, C + 4 D, 2, 2]."""
    folded = pixel_unshuffle(torch.from_numpy(scattered), 2).numpy()
    return np.concatenate([patches, folded], axis=1)


COMPUTED: dict[str, Callable[..., Arrays]] = {
    "scattering": _scattering.features,
    "patches": _patches_of,
    "patches-scattering": _patches_and_scattering,
}
"""What turns pictures and their data set's constants into features, by what a table calls it."""
