"""What tests of several pages, or of several sides of the data sets, start from."""

import shutil
from pathlib import Path

import pytest
import results_folder

from dpfl import data
from dpfl.data import mnist
from dpfl.report.reader import Folder


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a results folder and of its papers, made once."""
    root = tmp_path_factory.mktemp("root")
    results_folder.write(root)
    return root


@pytest.fixture
def folder(written: Path, tmp_path: Path) -> Folder:
    """A results folder with its runs, which a test may change."""
    shutil.copytree(written, tmp_path / "root")
    return Folder(tmp_path / "root" / results_folder.RESULTS)


@pytest.fixture(scope="session")
def mnist_arrays(data_dir: Path) -> data.Arrays:
    """MNIST, read once."""
    return data.read("mnist", data_dir)


@pytest.fixture
def mnist_copy(data_dir: Path, tmp_path: Path) -> Path:
    """A folder of links to the official files, in torchvision's layout."""
    raw = tmp_path / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for name in mnist.FILES:
        (raw / f"{name}.gz").symlink_to(data_dir / "MNIST" / "raw" / f"{name}.gz")
    return raw
