"""Data sets of features, computed from each picture of another data set alone: derived.yaml.

Of other pictures they see synthetic ones alone (dpfl.data._patches, dpfl.data._scattering).
"""

from pathlib import Path
from typing import Any

from dpfl import data, plugins


def read(data_dir: Path, *, base: str, computes: str, **settings: Any) -> data.Arrays:
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    from dpfl.data._computed import COMPUTED  # numpy and torch, which plans do without

    pictures = data.read(base, data_dir)
    return COMPUTED[computes](pictures, plugins.load("data", base), **settings)
