"""EMNIST, balanced: 131,600 handwritten digits and letters of 47 classes (Cohen et al. 2017).

arXiv 1702.05373, in 28 x 28 pixels. It is read through torchvision from `EMNIST/raw`, where its
unpacked files must lie: they come in one archive of half a gigabyte, which is not downloaded.
"""

from pathlib import Path

from dpfl.base.errors import UserError
from dpfl.data import Arrays

TRAIN_EXAMPLES = 112800
TEST_EXAMPLES = 18800
CLASSES = 47
SHAPE = (1, 28, 28)
SCALE = 255
MEAN = (0.0,)
STD = (1.0,)


def read(data_dir: Path) -> Arrays:
    """Read the pictures, turned upright; UserError for files that are missing or damaged."""
    import numpy as np
    from torchvision.datasets.mnist import read_image_file, read_label_file

    found = []
    for part in ("train", "test"):
        stem = f"{data_dir / 'EMNIST/raw'}/emnist-balanced-{part}"
        images, labels = f"{stem}-images-idx3-ubyte", f"{stem}-labels-idx1-ubyte"
        try:
            pictures, targets = read_image_file(images).numpy(), read_label_file(labels).numpy()
        except FileNotFoundError as error:
            raise UserError(
                f"{error.filename} is missing, expected from EMNIST's archive"
            ) from error
        except (OSError, ValueError, IndexError, AssertionError, RuntimeError) as error:
            raise UserError(
                f"{images} or its labels are damaged; unpack the archive anew"
            ) from error
        upright = pictures.transpose(0, 2, 1)[:, None]  # they are published mirrored
        found += [np.ascontiguousarray(upright), targets.astype(np.int64)]
    return Arrays(*found)
