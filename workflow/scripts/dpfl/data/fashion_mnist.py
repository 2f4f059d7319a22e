"""Fashion-MNIST: 70,000 pictures of clothes, 28 x 28 grey pixels, ten classes.

Xiao, Rasul and Vollgraf (2017, arXiv 1708.07747): the format, sizes and file names of MNIST.
"""

from pathlib import Path

from dpfl.data import Arrays, _idx

TRAIN_EXAMPLES = 60000
TEST_EXAMPLES = 10000
CLASSES = 10
SHAPE = (1, 28, 28)
SCALE = 255
# The conventional constants, treated as public: they cost no privacy budget.
MEAN = (0.2860,)
STD = (0.3530,)

FILES = {
    "train-images-idx3-ubyte": (
        "8d4fb7e6c68d591d4c3dfef9ec88bf0d",
        "c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888",
    ),
    "train-labels-idx1-ubyte": (
        "25c81989df183df01b3e8a0aad5dffbe",
        "bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9",
    ),
    "t10k-images-idx3-ubyte": (
        "bef4ecab320f06d8554ea6380940ec79",
        "5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b",
    ),
    "t10k-labels-idx1-ubyte": (
        "bb300cfdad3c16e7a12a480ee83cd310",
        "0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34",
    ),
}


def read(data_dir: Path) -> Arrays:
    """Read Fashion-MNIST from data_dir/FashionMNIST/raw; what is missing is downloaded.

    Not from data_dir itself: files of these names there would be MNIST's. Raises UserError for a
    file that is damaged, or is missing and cannot be downloaded.
    """
    return _idx.read([data_dir / "FashionMNIST" / "raw"], FILES, "FashionMNIST")
