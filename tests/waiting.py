"""Waiting for what other processes do."""

import subprocess
import time
from collections.abc import Callable

DEADLINE_S = 300


def until(true: Callable[[], object], process: subprocess.Popen | None = None) -> None:
    """Wait until something is true; a process that ends before tells what it printed."""
    end = time.monotonic() + DEADLINE_S
    while not true():
        assert process is None or process.poll() is None, process.communicate()
        assert time.monotonic() < end
        time.sleep(0.01)
