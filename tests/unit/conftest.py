"""What tests of several pages start from."""

import shutil
from pathlib import Path

import pytest
import results_folder

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
