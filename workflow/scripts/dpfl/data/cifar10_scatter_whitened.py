"""Scattering features of CIFAR-10, whitened by synthetic pictures (dpfl.data._scattering).

Here alone they are the mean of a picture's and its mirror image's: whatever looks the other way
is still the same, which does not hold for digits.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from dpfl import data
from dpfl.data import _scattering, cifar10

if TYPE_CHECKING:
    from dpfl.data import Arrays

BASE = "cifar10"
TRAIN_EXAMPLES = 50000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (243, 8, 8)
DTYPE = "float16"

_SHRINKAGE = 1.0


def read(data_dir: Path) -> "Arrays":
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    return _scattering.features(data.read(BASE, data_dir), cifar10, _SHRINKAGE, mirrored=True)
