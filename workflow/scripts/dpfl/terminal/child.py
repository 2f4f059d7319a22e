"""Snakemake as a child: in a group of its own, its output in a file, ended by a signal to all."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dpfl import plugins
from dpfl.terminal.lock import Lock

SNAKEMAKE = (sys.executable, "-m", "snakemake")
LOOK_S = 1.0
SHARE = 0.1
"""At most this share of the time is spent on looking, where looking is slow."""
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KILLED = 128
"""What a shell adds to the number of the signal that killed a process, as its exit status."""
STOPPING = "stopping: jobs end, what is finished stays (once more: at once)"


class Child:
    """Runs Snakemake once or more, all output appended to one file, while a lock is held."""

    def __init__(
        self,
        lock: Lock,
        log: Path,
        command: Sequence[str] = SNAKEMAKE,
        tell: Callable[[str], None] = print,
    ) -> None:
        """Set the scene; nothing runs yet."""
        self._lock, self._log, self._command, self._tell = lock, log, command, tell
        self.interrupted = 0
        """How often the user asked for an end."""

    def run(self, arguments: Sequence[str], look: Callable[[], None] = lambda: None) -> int:
        """Run Snakemake to its end, with a look now and then; return its exit status."""
        with self._log.open("a", encoding="utf-8") as log, self._asked():
            process = subprocess.Popen(
                [*self._command, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(),
                start_new_session=True,
                pass_fds=[self._lock.fileno()],
            )
            self._lock.name(process.pid)
            try:
                self._follow(process, look)
            except BaseException:  # a terminal that is gone: nothing may go on unseen
                _end(process, signal.SIGINT)
                process.wait()
                raise
        if process.returncode >= 0:
            return process.returncode
        _end(process, signal.SIGINT)  # jobs of a Snakemake that was killed
        return KILLED - process.returncode

    def _follow(self, process: subprocess.Popen, look: Callable[[], None]) -> None:
        told, pause = 0, LOOK_S
        while _runs(process, pause):
            began = time.monotonic()
            if not self.interrupted:
                look()
            elif self.interrupted > told:
                self._tell(STOPPING)
                _end(process, signal.SIGKILL if told else signal.SIGINT)
                told = self.interrupted
            pause = max(LOOK_S, (time.monotonic() - began) / SHARE)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Count signals in place of dying of them; Snakemake is told after the next look."""

        def count(*_: object) -> None:
            self.interrupted += 1

        before = {number: signal.signal(number, count) for number in _heard()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def _heard() -> list[signal.Signals]:
    """Return the signals that end it: of nohup it has that no hang-up does."""
    hang_up_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [n for n in ENDINGS if not (hang_up_ignored and n == signal.SIGHUP)]


def _runs(process: subprocess.Popen, seconds: float) -> bool:
    """Wait for the end of a process; tell whether it still runs after so many seconds."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return True
    return False


def _end(process: subprocess.Popen, number: signal.Signals) -> None:
    """Send a signal to Snakemake and its jobs, unless they have ended."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def _environment() -> dict[str, str]:
    """Return an environment in which Snakemake finds the plug-in that writes its events.

    Where HOME cannot be written, as in some containers, Snakemake has its cache in .snakemake.
    """
    path = [str(plugins.ROOT.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    home = Path.home()
    if not (home.is_dir() and os.access(home, os.W_OK)):
        found.setdefault("XDG_CACHE_HOME", str(Path(".snakemake/cache").resolve()))
    return found
