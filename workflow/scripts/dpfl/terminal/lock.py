"""Who runs in this folder: a lock that the kernel frees when its last holder dies.

Snakemake's own lock is a file, which stays when Snakemake is killed. Whoever holds this one knows
that such a file is stale. The file keeps its name and its place: only what it says changes.
"""

import fcntl
import os
import shutil
import socket
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from dpfl.base.errors import UserError

PATH = Path(".snakemake/running.txt")
SNAKEMAKES = Path(".snakemake/locks")


class Lock:
    """The lock, held until it is closed here and in all processes that inherited its file."""

    def __init__(self, path: Path = PATH, what: str = "replicate") -> None:
        """Take the lock; UserError if somebody else has it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self.left = holder(path)
        """Who died without giving it back."""
        self._file = path.open("a+", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise UserError(f"another {what} runs here ({self.left or 'just started'})") from error
        self.name(os.getpid())

    def name(self, pid: int) -> None:
        """Write down which process runs."""
        since = datetime.now().isoformat(" ", "seconds")
        self._write(f"pid {pid} on {socket.gethostname()} since {since}")

    def fileno(self) -> int:
        """Return the descriptor, for a child to inherit."""
        return self._file.fileno()

    def close(self) -> None:
        """Give the lock back."""
        self._write("")
        self._file.close()

    def _write(self, text: str) -> None:
        self._file.truncate(0)
        self._file.write(text)
        self._file.flush()


def holder(path: Path = PATH) -> str:
    """Return who took the lock last and did not give it back; "" if nobody."""
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def is_held(path: Path = PATH) -> bool:
    """Tell whether somebody holds the lock, here or on another machine."""
    with suppress(FileNotFoundError), path.open(encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def hold() -> None:
    """Take the lock for the life of this process, unless the one that started it has it."""
    with suppress(UserError):
        _HELD.append(Lock())


_HELD: list[Lock] = []


def unlock() -> None:
    """Remove the lock of a Snakemake that is gone."""
    shutil.rmtree(SNAKEMAKES, ignore_errors=True)
