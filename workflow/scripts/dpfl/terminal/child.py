"""Snakemake as a child: in a session of its own, its output in a file, ended by a signal to all."""

import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dpfl import plugins
from dpfl.base import cli
from dpfl.terminal import lock

SNAKEMAKE = (sys.executable, "-m", "snakemake")
ENDINGS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
KILLED = 128
"""What a shell adds to the number of the signal that killed a process, as its exit status."""
STOPPING = "stopping: jobs end, what is finished stays (once more: at once)"


@dataclass
class Child:
    """Runs Snakemake once or more, all its output appended to one file, while a lock is held."""

    lock: lock.Lock
    log: Path
    command: Sequence[str] = SNAKEMAKE
    interrupted: int = 0
    """How often the user asked for an end."""
    _process: subprocess.Popen | None = None

    def run(self, arguments: Sequence[str]) -> int:
        """Run Snakemake to its end, its progress told on our standard output; return its status."""
        before = {number: signal.signal(number, self._asked) for number in _heard()}
        try:
            self._process = self._started(arguments)
            self._stop()
            self.lock.name(self._process.pid)
            status = self._process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if status < 0:
            self._signal(signal.SIGINT)  # jobs of a Snakemake that was killed
            lock.unlock()
        return status if status >= 0 else KILLED - status

    def _started(self, arguments: Sequence[str]) -> subprocess.Popen:
        terminal = os.dup(1)
        logger = ["--logger-dpfl-terminal", str(terminal), "--logger", "dpfl"]
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [*self.command, *logger, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=_environment(),
                start_new_session=True,
                pass_fds=[self.lock.fileno(), terminal],
            )
        os.close(terminal)
        return process

    def _asked(self, *_: object) -> None:
        self.interrupted += 1
        if self._process:
            self._stop()

    def _stop(self) -> None:
        """End Snakemake and its jobs if the user asked for it; at once if asked again."""
        if self.interrupted:
            self._signal(signal.SIGKILL if self.interrupted > 1 else signal.SIGINT)
            cli.tell(STOPPING, sys.stdout)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to Snakemake and its jobs, unless they have ended."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def _heard() -> list[signal.Signals]:
    """Return the signals that end it: of nohup it has that no hang-up does."""
    hang_up_ignored = signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    return [n for n in ENDINGS if not (hang_up_ignored and n == signal.SIGHUP)]


def _environment() -> dict[str, str]:
    """Return an environment in which Snakemake finds the plug-in that tells its progress.

    Where HOME cannot be written, as in some containers, Snakemake has its cache in .snakemake.
    """
    path = [str(plugins.ROOT.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    found = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
    home = Path.home()
    if not (home.is_dir() and os.access(home, os.W_OK)):
        found.setdefault("XDG_CACHE_HOME", str(Path(".snakemake/cache").resolve()))
    return found
