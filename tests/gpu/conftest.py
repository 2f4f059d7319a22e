"""What runs on a GPU alone: `make test-gpu`."""

import sys
from pathlib import Path

import pytest
import torch

TESTS = Path(__file__).parent.parent
sys.path[:0] = [str(TESTS / "unit"), str(TESTS / "contract")]

if not torch.cuda.is_available():
    pytest.exit("torch finds no GPU here; expected one for tests/gpu", returncode=1)
