"""Scattering features of MNIST, whitened by synthetic pictures (dpfl.data._scattering)."""

from pathlib import Path
from typing import TYPE_CHECKING

from dpfl import data
from dpfl.data import _scattering, mnist

if TYPE_CHECKING:
    from dpfl.data import Arrays

BASE = "mnist"
TRAIN_EXAMPLES = 60000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (81, 7, 7)
DTYPE = "float16"

_SHRINKAGE = 0.1


def read(data_dir: Path) -> "Arrays":
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    return _scattering.features(data.read(BASE, data_dir), mnist, _SHRINKAGE)
