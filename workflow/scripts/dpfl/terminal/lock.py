"""Who runs in this folder: a lock that the kernel frees when its last holder dies.

Snakemake's own lock is a file, which stays when Snakemake is killed. Whoever holds this one knows
that such a file is stale. The file keeps its name and its place: only what it says changes.
"""

import fcntl
import json
import os
import shutil
import socket
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TextIO

from dpfl.base.errors import UserError

PATH = Path(".snakemake/running.json")
SNAKEMAKES = Path(".snakemake/locks")


@dataclass(frozen=True)
class Holder:
    """A process that runs here, and since when."""

    pid: int
    host: str
    since: str

    def lives(self) -> bool:
        """Tell whether it still runs; a process of another machine counts as running."""
        return self.host != socket.gethostname() or Path(f"/proc/{self.pid}").exists()

    def __str__(self) -> str:
        return f"pid {self.pid} on {self.host} since {self.since}"


class Lock:
    """The lock, held until it is closed here and in all processes that inherited its file."""

    def __init__(self, path: Path = PATH, what: str = "replicate") -> None:
        """Take the lock; UserError if somebody else has it."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: TextIO = path.open("a+", encoding="utf-8")
        self.left = holder(path)
        """Who died without giving it back."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._file.close()
            raise UserError(f"another {what} runs here ({self.left or 'just started'})") from error
        self.name(os.getpid())

    def name(self, pid: int) -> None:
        """Write down which process runs."""
        since = datetime.now().isoformat(" ", "seconds")
        self._write(json.dumps(asdict(Holder(pid, socket.gethostname(), since))))

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


def holder(path: Path = PATH) -> Holder | None:
    """Return who took the lock last and did not give it back, without touching it."""
    try:
        return Holder(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):  # TypeError: JSON that is no holder
        return None


def hold() -> None:
    """Take the lock for the life of this process, unless the one that started it has it."""
    with suppress(UserError):
        _HELD.append(Lock())


_HELD: list[Lock] = []


def unlock() -> None:
    """Remove the lock of a Snakemake that is gone."""
    shutil.rmtree(SNAKEMAKES, ignore_errors=True)
