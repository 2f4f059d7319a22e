"""Who runs in this folder: a lock that the kernel frees when its last holder dies.

`make replicate` and a Snakemake that is started by hand take it. Snakemake's own lock is a file,
which stays when Snakemake is killed. The file of this one keeps its name and its place: only what
it says changes.
"""

import fcntl
import os
import socket
import sys
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from dpfl.base.errors import UserError

PATH = Path(".snakemake/running.txt")


class Lock:
    """The lock, held until it is closed here and in all processes that inherited its file."""

    def __init__(self, path: Path = PATH, what: str = "replicate") -> None:
        """Take the lock; UserError if somebody else has it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._file = path, path.open("a", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise UserError(f"another {what} runs here ({holder(path)})") from error
        self.name(os.getpid())

    def name(self, pid: int) -> None:
        """Write down which process runs."""
        since = datetime.now().isoformat(" ", "seconds")
        self._path.write_text(f"pid {pid} on {socket.gethostname()} since {since}")

    def fileno(self) -> int:
        """Return the descriptor, for a child to inherit."""
        return self._file.fileno()

    def close(self) -> None:
        """Give the lock back."""
        self._file.close()


def holder(path: Path = PATH) -> str:
    """Return who holds the lock, here or on another machine; "" if nobody."""
    with suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read() or "just started"
    return ""


def hold() -> None:
    """Take the lock for the life of this process, unless it was started under the lock.

    Ends the process with one line if somebody else has it.
    """
    try:
        if not holder().startswith(f"pid {os.getpid()} "):
            _HELD.append(Lock())
    except UserError as error:
        sys.exit(f"error: {error}")


_HELD: list[Lock] = []
