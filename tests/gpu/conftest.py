"""What runs on a GPU alone: `make test-gpu`."""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).parent.parent / "unit"))  # whose helpers are used here too


def pytest_sessionstart() -> None:
    """Stop with one line where there is no GPU."""
    if not torch.cuda.is_available():
        pytest.exit("error: torch finds no GPU here; expected one for tests/gpu", returncode=1)
