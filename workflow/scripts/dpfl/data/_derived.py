"""Data sets of features, computed from each picture of another data set alone: derived.yaml.

Of other pictures they see synthetic ones alone (dpfl.data._patches, dpfl.data._scattering).
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from dpfl import data, plugins
from dpfl.data import _patches, _scattering

if TYPE_CHECKING:
    import numpy as np

    from dpfl.data import Arrays


def read(data_dir: Path, *, base: str, computes: str, **settings: Any) -> "Arrays":
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    return COMPUTED[computes](data.read(base, data_dir), plugins.load("data", base), **settings)


def _patches_of(pictures: "Arrays", base: ModuleType) -> "Arrays":
    return _patches.features(pictures)


def _patches_and_scattering(pictures: "Arrays", base: ModuleType, shrinkage: float) -> "Arrays":
    patches = _patches.features(pictures)
    scattered = _scattering.roots(pictures, base, shrinkage)
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


COMPUTED: dict[str, Callable[..., "Arrays"]] = {
    "scattering": _scattering.features,
    "patches": _patches_of,
    "patches-scattering": _patches_and_scattering,
}
"""What turns pictures and their data set's constants into features, by what a table calls it."""
