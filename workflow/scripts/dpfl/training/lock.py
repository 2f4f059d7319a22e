"""One process at a time trains a run, whoever started it."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def held(path: Path, waiting: Callable[[], None]) -> Iterator[None]:
    """Hold a file's lock, which ends with the process that holds it; call `waiting` to wait."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _locked(path, waiting)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)
        os.close(file)


def _locked(path: Path, waiting: Callable[[], None]) -> int:
    """Lock the file of this name; one that its holder removed meanwhile is not it any more."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists() and os.path.samestat(os.fstat(file), path.stat()):
            return file
        os.close(file)
