"""Scattering features of the digits, whitened by synthetic pictures (dpfl.data._scattering)."""

from pathlib import Path
from typing import TYPE_CHECKING

from dpfl import data
from dpfl.data import _scattering, digits

if TYPE_CHECKING:
    from dpfl.data import Arrays

BASE = "digits"
TRAIN_EXAMPLES = 1437
TEST_EXAMPLES = 360
CLASSES = 10
SHAPE = (81, 2, 2)
DTYPE = "float16"

_SHRINKAGE = 0.1


def read(data_dir: Path) -> "Arrays":
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    return _scattering.features(data.read(BASE, data_dir), digits, _SHRINKAGE)
