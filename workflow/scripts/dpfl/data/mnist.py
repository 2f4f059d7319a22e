"""MNIST: 70,000 handwritten digits of 28 x 28 pixels (LeCun et al. 1998)."""

import gzip
from pathlib import Path
from typing import TYPE_CHECKING

from dpfl.data import _files

if TYPE_CHECKING:
    import numpy as np

    from dpfl.data import Arrays

TRAIN_EXAMPLES = 60000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (1, 28, 28)
SCALE = 255
# The conventional constants, treated as public: they cost no privacy budget.
MEAN = (0.1307,)
STD = (0.3081,)

# name: (MD5 of NAME.gz as torchvision lists it, SHA-256 of the decompressed file); torchvision
# itself loads decompressed files unchecked.
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


def read(data_dir: Path) -> "Arrays":
    """Read MNIST from data_dir/MNIST/raw or data_dir itself; what is missing is downloaded.

    Raises UserError for a file that is damaged, or is missing and cannot be downloaded.
    """
    import numpy as np

    from dpfl.data import Arrays

    inputs, targets, test_inputs, test_targets = (_array(_content(data_dir, n)) for n in FILES)
    return Arrays(
        inputs[:, None],
        targets.astype(np.int64),
        test_inputs[:, None],
        test_targets.astype(np.int64),
    )


def _content(data_dir: Path, name: str) -> bytes:
    """Return the decompressed bytes of one file; nothing decompressed is written."""
    md5, sha256 = FILES[name]
    folders = (data_dir / "MNIST" / "raw", data_dir)
    for folder in folders:
        if (folder / f"{name}.gz").is_file():
            return gzip.decompress(_files.verified(folder / f"{name}.gz", "md5", md5))
        if (folder / name).is_file():
            return _files.verified(folder / name, "sha256", sha256)
    return gzip.decompress(_downloaded(folders[0] / f"{name}.gz", md5))


def _downloaded(path: Path, md5: str) -> bytes:
    from torchvision.datasets import MNIST

    names = ", ".join(f"{name}.gz" for name in FILES)
    urls = [f"{mirror}{path.name}" for mirror in MNIST.mirrors]
    _files.download(urls, path, md5, f"put {names} into {path.parent} by hand")
    return _files.verified(path, "md5", md5)


def _array(idx: bytes) -> "np.ndarray":
    """Parse an idx file of bytes: two zeros, type, rank, the sizes (big-endian), the values."""
    import numpy as np

    rank = idx[3]
    shape = np.frombuffer(idx, ">u4", count=rank, offset=4)
    return np.frombuffer(idx, np.uint8, offset=4 + 4 * rank).reshape(shape)
