"""MNIST: 70,000 handwritten digits of 28 x 28 pixels (LeCun et al. 1998)."""

from pathlib import Path

from dpfl.data import Arrays, _idx

TRAIN_EXAMPLES = 60000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (1, 28, 28)
SCALE = 255
# The conventional constants, treated as public: they cost no privacy budget.
MEAN = (0.1307,)
STD = (0.3081,)

FILES = {
    "train-images-idx3-ubyte": (
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
        "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db",
    ),
    "train-labels-idx1-ubyte": (
        "d53e105ee54ea40749a09fcbcd1e9432",
        "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5",
    ),
    "t10k-images-idx3-ubyte": (
        "9fb629c4189551a2d022fa330f9573f3",
        "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7",
    ),
    "t10k-labels-idx1-ubyte": (
        "ec29112dd5afa0611ce80d1b7f02629c",
        "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2",
    ),
}


def read(data_dir: Path) -> Arrays:
    """Read MNIST from data_dir/MNIST/raw or data_dir itself; what is missing is downloaded.

    Raises UserError for a file that is damaged, or is missing and cannot be downloaded.
    """
    return _idx.read([data_dir / "MNIST" / "raw", data_dir], FILES, "MNIST")
