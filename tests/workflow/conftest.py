"""Trees to run the workflow in: fresh ones, and copies of one where it has run."""

import os

import pytest
from filelock import FileLock
from worktree import MINI, Tree, copied


@pytest.fixture
def sources(root, derived, tmp_path) -> Tree:
    """A fresh copy of the sources, in which nothing has run."""
    return copied(root, tmp_path / "sources")


@pytest.fixture(scope="session")
def mini(root, derived, tmp_path_factory) -> Tree:
    """A tree in which the mini configuration has run; tests must not change it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if "PYTEST_XDIST_WORKER" in os.environ else own  # one for all workers
    finished = shared / "mini"
    with FileLock(shared / "mini.lock"):
        if not finished.exists():
            tree = copied(root, tmp_path_factory.mktemp("mini") / "tree")
            tree.configure(MINI)
            tree.make()
            tree.path.rename(finished)
    return Tree(finished)


@pytest.fixture
def finished(mini, tmp_path) -> Tree:
    """A copy of the finished tree, to change."""
    return mini.copy(tmp_path / "finished")
