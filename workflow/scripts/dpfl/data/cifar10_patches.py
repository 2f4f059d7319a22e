"""Single-layer features of CIFAR-10, their filters from synthetic pictures (dpfl.data._patches)."""

from pathlib import Path
from typing import TYPE_CHECKING

from dpfl import data
from dpfl.data import _patches

if TYPE_CHECKING:
    from dpfl.data import Arrays

BASE = "cifar10"
TRAIN_EXAMPLES = 50000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (1024, 2, 2)
DTYPE = "float16"


def read(data_dir: Path) -> "Arrays":
    """Read the pictures from `data_dir` and compute their features; UserError as theirs."""
    return _patches.features(data.read(BASE, data_dir))
