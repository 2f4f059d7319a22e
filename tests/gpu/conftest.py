"""What runs on a GPU alone: `make test-gpu`."""

import sys
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "unit"), str(TESTS / "contract")]


def pytest_sessionstart() -> None:
    """Stop with one line where there is no GPU."""
    if not torch.cuda.is_available():
        pytest.exit("error: torch finds no GPU here; expected one for tests/gpu", returncode=1)
