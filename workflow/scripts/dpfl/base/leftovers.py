"""What a killed process leaves of a file that it was writing (`files.atomic`)."""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

NAME = re.compile(r"\..+\.(?P<process>\d+)-[0-9a-f]{8}(\.\w+)?")
AGE_S = 3600
"""A process of another machine may still write: what was touched since then is not left behind."""


def of(folder: Path) -> Iterator[Path]:
    """Yield the half-written files below a folder that no process owns any more."""
    for path in folder.rglob(".*"):
        found = NAME.fullmatch(path.name)
        if found and not _alive(int(found["process"])) and _age(path) > AGE_S:
            yield path


def _alive(process: int) -> bool:
    """Tell whether a process of this machine has this number."""
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # another user's
        pass
    return True


def _age(path: Path) -> float:
    return time.time() - path.lstat().st_mtime
