"""What tests of several pages, or of several sides of the data sets, start from."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import results_folder

from dpfl import data
from dpfl.base import yaml_file
from dpfl.data import mnist
from dpfl.planning import compose, plan
from dpfl.report.reader import Folder


@pytest.fixture(scope="session")
def default(root: Path) -> dict:
    """The configuration of config.yaml; tests must not change it."""
    return yaml_file.read(root / "config.yaml", "config.yaml")


@pytest.fixture(scope="session")
def composed(default: dict) -> dict:
    """What that runs of each paper; tests must not change it."""
    return compose.compose(default)


@pytest.fixture(scope="session")
def planned(composed: dict) -> plan.Plan:
    """The plan of all of it; tests must not change it."""
    return plan.make(composed)


@pytest.fixture(scope="session")
def drive(root: Path) -> Callable[..., subprocess.CompletedProcess]:
    """A function: run a driver of the workflow to its end, good or bad."""

    def driven(script: str, *arguments: str | Path) -> subprocess.CompletedProcess:
        scripts = root / "workflow" / "scripts"
        command = [sys.executable, scripts / f"{script}.py", *arguments]
        path = os.environ | {"PYTHONPATH": str(scripts)}
        return subprocess.run(command, env=path, capture_output=True, text=True)

    return driven


@pytest.fixture(scope="session")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a results folder and of its papers, made once."""
    root = tmp_path_factory.mktemp("root")
    results_folder.write(root)
    return root


@pytest.fixture(scope="module")
def results(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A results folder, which the tests of a file share."""
    root = shutil.copytree(written, tmp_path_factory.mktemp("own") / "root")
    return root / results_folder.RESULTS


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
