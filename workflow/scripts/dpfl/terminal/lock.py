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
from functools import cache
from pathlib import Path
from typing import TextIO

from dpfl.base.errors import UserError

PATH = Path(".snakemake/running.txt")


def take(path: Path = PATH, what: str = "replicate") -> TextIO:
    """Take the lock until its file is closed here and in all processes that inherited it.

    UserError if somebody else has it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    held = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        held.close()
        if other := holder(path):
            raise UserError(f"another {what} runs here ({other})") from error
        return take(path, what)  # who asked for the holder held it for a moment
    name(held, os.getpid())
    return held


def name(held: TextIO, pid: int) -> None:
    """Write down which process runs."""
    held.truncate(0)
    held.write(f"pid {pid} on {socket.gethostname()} since {datetime.now():%Y-%m-%d %H:%M:%S}")
    held.flush()


def holder(path: Path = PATH) -> str:
    """Return who holds the lock, here or on another machine; "" if nobody."""
    with suppress(FileNotFoundError), path.open(encoding="utf-8", errors="replace") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return file.read() or "just started"
    return ""


@cache
def hold() -> TextIO | None:
    """Take the lock for the life of this process, unless it was started under the lock.

    Ends the process with one line if somebody else has it.
    """
    try:
        return None if holder().startswith(f"pid {os.getpid()} ") else take()
    except UserError as error:
        sys.exit(f"error: {error}")
