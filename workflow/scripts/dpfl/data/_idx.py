"""Data sets in idx files, as MNIST's: found, checked and parsed; what is missing is downloaded."""

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dpfl.data import Arrays, _files

if TYPE_CHECKING:
    import numpy as np

NAMES = (
    "train-images-idx3-ubyte",
    "train-labels-idx1-ubyte",
    "t10k-images-idx3-ubyte",
    "t10k-labels-idx1-ubyte",
)
Digests = Mapping[str, tuple[str, str]]
"""name: (MD5 of NAME.gz as torchvision lists it, SHA-256 of the decompressed file); torchvision
itself loads decompressed files unchecked."""


def read(folders: Sequence[Path], digests: Digests, source: str) -> Arrays:
    """Read pictures [N, 1, H, W] and their labels from the first folder that has a file.

    What none has goes to the first, from the mirrors of `source`, a data set of torchvision.
    Raises UserError for a file that is damaged, or is missing and cannot be downloaded.
    """
    import numpy as np

    inputs, targets, test_inputs, test_targets = (
        _array(_content(folders, name, digests[name], source)) for name in NAMES
    )
    return Arrays(
        inputs[:, None],
        targets.astype(np.int64),
        test_inputs[:, None],
        test_targets.astype(np.int64),
    )


def _content(folders: Sequence[Path], name: str, digests: tuple[str, str], source: str) -> bytes:
    """Return the decompressed bytes of one file; nothing decompressed is written."""
    md5, sha256 = digests
    for folder in folders:
        if (folder / f"{name}.gz").is_file():
            return gzip.decompress(_files.verified(folder / f"{name}.gz", "md5", md5))
        if (folder / name).is_file():
            return _files.verified(folder / name, "sha256", sha256)
    return gzip.decompress(_downloaded(folders[0] / f"{name}.gz", md5, source))


def _downloaded(path: Path, md5: str, source: str) -> bytes:
    from torchvision import datasets

    names = ", ".join(f"{name}.gz" for name in NAMES)
    urls = [f"{mirror}{path.name}" for mirror in getattr(datasets, source).mirrors]
    _files.download(urls, path, md5, f"put {names} into {path.parent} by hand")
    return _files.verified(path, "md5", md5)


def _array(idx: bytes) -> "np.ndarray":
    """Parse an idx file of bytes: two zeros, type, rank, the sizes (big-endian), the values."""
    import numpy as np

    rank = idx[3]
    shape = np.frombuffer(idx, ">u4", count=rank, offset=4)
    return np.frombuffer(idx, np.uint8, offset=4 + 4 * rank).reshape(shape)
