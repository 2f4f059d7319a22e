"""Shared fixtures."""

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Weights that a test lets torch draw are the same whichever tests ran before it."""
    import torch  # reads OMP_NUM_THREADS

    torch.manual_seed(0)


@pytest.fixture(scope="session")
def root() -> Path:
    """The repository root."""
    return ROOT


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with MNIST and CIFAR-10 (DATA_DIR, or beside the repository), or a skip."""
    path = Path(os.environ.get("DATA_DIR") or ROOT.parent / "shared" / "datasets")
    if not path.exists():
        pytest.skip("no folder with MNIST and CIFAR-10")
    return path
