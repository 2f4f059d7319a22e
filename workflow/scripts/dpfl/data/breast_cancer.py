"""Breast Cancer Wisconsin (Diagnostic): 569 rows of 30 numbers, two classes (Street et al. 1993).

Scikit-learn ships it: offline, small, and no picture. A row is measured on the cell nuclei of one
sample, the class is malignant (0) or benign (1). Who the samples come from is not in the data, so
there are no natural clients.
"""

from pathlib import Path

from dpfl.data import Arrays, every_fifth

TRAIN_EXAMPLES = 455
TEST_EXAMPLES = 114
CLASSES = 2
SHAPE = (30,)
DTYPE = "float32"
SCALE = 1
# Of each column over all rows, four digits; treated as public, like the data set itself. Of private
# rows such constants would have to be known beforehand: computed from them, they are a release.
# fmt: off
MEAN = (
    14.13, 19.29, 91.97, 654.9, 0.09636, 0.1043, 0.0888, 0.04892, 0.1812, 0.0628,
    0.4052, 1.217, 2.866, 40.34, 0.007041, 0.02548, 0.03189, 0.0118, 0.02054, 0.003795,
    16.27, 25.68, 107.3, 880.6, 0.1324, 0.2543, 0.2722, 0.1146, 0.2901, 0.08395,
)
STD = (
    3.521, 4.297, 24.28, 351.6, 0.01405, 0.05277, 0.07965, 0.03877, 0.02739, 0.007054,
    0.2771, 0.5512, 2.02, 45.45, 0.003, 0.01789, 0.03016, 0.006165, 0.008259, 0.002644,
    4.829, 6.141, 33.57, 568.9, 0.02281, 0.1572, 0.2084, 0.06567, 0.06181, 0.01805,
)
# fmt: on
DEMONSTRATES = True  # rows on it show the machinery: no source reports on it


def read(data_dir: Path) -> Arrays:
    """Read the rows from scikit-learn, a fifth for the test; `data_dir` is not used."""
    import numpy as np
    from sklearn.datasets import load_breast_cancer

    rows = load_breast_cancer()
    return every_fifth(rows.data.astype(np.float32), rows.target.astype(np.int64))
