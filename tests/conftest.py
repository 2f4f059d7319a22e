"""Shared fixtures."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
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
def imported(root: Path) -> Callable[..., set[str]]:
    """A function: which of some modules are imported by code in a process of its own."""

    def found(code: str, *among: str) -> set[str]:
        command = [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules)"]
        path = os.environ | {"PYTHONPATH": f"{root / 'workflow/scripts'}:{root / 'workflow'}"}
        done = subprocess.run(command, env=path, capture_output=True, text=True, check=True)
        return {*among} & {*done.stdout.split()}

    return found


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder with MNIST and CIFAR-10 (DATA_DIR, or beside the repository), or a skip."""
    path = Path(os.environ.get("DATA_DIR") or ROOT.parent / "shared" / "datasets")
    if not path.exists():
        pytest.skip("no folder with MNIST and CIFAR-10")
    return path


@pytest.fixture(scope="module")
def coarse() -> Iterator[None]:
    """Price on one coarse grid: still from above, and quick."""
    from dpfl.privacy import accounting, search
    from dpfl.privacy.accountants import pld

    cached = (accounting.epsilon_of_run, search.noise_multiplier, search.noise_multipliers)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pld, "GRID", 1e-2)
        patch.setattr(pld, "DRAFT_GRID", 1e-2)
        for function in (*cached, pld._one_step):
            function.cache_clear()
        yield
        for function in (*cached, pld._one_step):
            function.cache_clear()


@pytest.fixture(scope="session")
def derived(root: Path) -> Path:
    """What kept runs say by today's code, without figures, made by whichever process asks first."""
    from filelock import FileLock

    from dpfl.provenance import derivations, kept

    home, reference = root / derivations.HOME, root / "results" / "reference"
    home.mkdir(parents=True, exist_ok=True)
    with FileLock(home / ".lock"):
        kept.all_of(reference, home, figures=False)
    return home
