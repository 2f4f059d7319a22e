"""CIFAR-10: 60,000 colour pictures of 32 x 32 pixels in ten classes (Krizhevsky 2009)."""

import io
import pickle
import tarfile
from collections.abc import Iterator
from pathlib import Path

from dpfl.data import Arrays, _files

TRAIN_EXAMPLES = 50000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (3, 32, 32)
SCALE = 255
# The conventional constants, treated as public: they cost no privacy budget.
MEAN = (0.4914, 0.4822, 0.4465)
STD = (0.2470, 0.2435, 0.2616)

# The MD5s that torchvision lists.
ARCHIVE = "cifar-10-python.tar.gz"
ARCHIVE_MD5 = "c58f30108f718f92721af3b95e74349a"
FOLDER = "cifar-10-batches-py"
BATCHES = {
    "data_batch_1": "c99cafc152244af753f735de768cd75f",
    "data_batch_2": "d4bba439e000b95fd0a9bffe97cbabec",
    "data_batch_3": "54ebc095f3ab1f0389bbae665268c751",
    "data_batch_4": "634d18415352ddfa80567beed471001a",
    "data_batch_5": "482c414d41f54cd18b22e5b47cb7c3cb",
    "test_batch": "40351d587109b95175f43aff81a1287e",
}


def read(data_dir: Path) -> Arrays:
    """Read CIFAR-10 from its batches in data_dir, else its archive there, which is downloaded.

    Raises UserError for a file that is damaged, or is missing and cannot be downloaded.
    """
    import numpy as np

    # Unpickling runs what a file says: every batch was verified before it comes here.
    batches = [pickle.loads(content, encoding="bytes") for content in _contents(data_dir)]
    inputs = [batch[b"data"].reshape(-1, *SHAPE) for batch in batches]
    targets = [np.array(batch[b"labels"], dtype=np.int64) for batch in batches]
    return Arrays(
        np.concatenate(inputs[:-1]), np.concatenate(targets[:-1]), inputs[-1], targets[-1]
    )


def _contents(data_dir: Path) -> Iterator[bytes]:
    """Yield the verified bytes of every batch; nothing unpacked is written."""
    missing = [name for name in BATCHES if not (data_dir / FOLDER / name).is_file()]
    if not missing:
        for name, md5 in BATCHES.items():
            yield _files.verified(data_dir / FOLDER / name, "md5", md5)
        return
    archive = data_dir / ARCHIVE
    if not archive.is_file():
        _download(archive, missing)
    content = io.BytesIO(_files.verified(archive, "md5", ARCHIVE_MD5))
    with tarfile.open(fileobj=content) as members:
        for name in BATCHES:
            yield members.extractfile(f"{FOLDER}/{name}").read()


def _download(archive: Path, missing: list[str]) -> None:
    from torchvision.datasets import CIFAR10

    by_hand = (
        f"put it into {archive.parent}, or {', '.join(missing)} into {archive.parent / FOLDER}, "
        "by hand"
    )
    _files.download([CIFAR10.url], archive, ARCHIVE_MD5, by_hand)
