"""The 1,797 handwritten digits of 8 x 8 pixels that scikit-learn ships: offline and small."""

from pathlib import Path

from dpfl.data import Arrays, every_fifth

TRAIN_EXAMPLES = 1437
TEST_EXAMPLES = 360
CLASSES = 10
SHAPE = (1, 8, 8)
SCALE = 16
# Of all pixels, rounded; treated as public constants, like the data set itself.
MEAN = (0.3053,)
STD = (0.3760,)
DEMONSTRATES = True  # rows on it show the machinery: no source reports on it


def read(data_dir: Path) -> Arrays:
    """Read the digits from scikit-learn, a fifth for the test; `data_dir` is not used."""
    import numpy as np
    from sklearn.datasets import load_digits

    digits = load_digits()
    inputs = digits.images.astype(np.uint8)[:, None]
    return every_fifth(inputs, digits.target.astype(np.int64))
