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
from dpfl.terminal.lock import Lock, unlock

SNAKEMAKE = (sys.executable, "-m", "snakemake")
STOPPING = "stopping: jobs end, what is finished stays (once more: at once)"


@dataclass
class Child:
    """Runs Snakemake once or more, all its output appended to one file, while a lock is held."""

    lock: Lock
    log: Path
    command: Sequence[str] = SNAKEMAKE
    interrupted: int = 0
    """How often the user asked for an end."""
    _process: subprocess.Popen | None = None

    def run(self, arguments: Sequence[str]) -> int:
        """Run Snakemake to its end, its progress told on our standard output.

        Return its status: less than 0 if a signal killed it.
        """
        before = {number: signal.signal(number, self._end) for number in _endings()}
        try:
            self._process = self._started(arguments)
            if self.interrupted:
                self._end()
            self.lock.name(self._process.pid)
            status = self._process.wait()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
        if status < 0:
            self._signal(signal.SIGINT)  # jobs of a Snakemake that was killed
            unlock()
        return status

    def _started(self, arguments: Sequence[str]) -> subprocess.Popen:
        """Start Snakemake with the plug-in that tells its progress.

        Where HOME cannot be written, as in some containers, its cache lies in .snakemake.
        """
        terminal = os.dup(1)
        logger = ["--logger-dpfl-terminal", str(terminal), "--logger", "dpfl"]
        path = filter(None, [str(plugins.ROOT.parent), os.environ.get("PYTHONPATH")])
        found = os.environ | {"PYTHONPATH": os.pathsep.join(path)}
        if not (Path.home().is_dir() and os.access(Path.home(), os.W_OK)):
            found = {"XDG_CACHE_HOME": str(Path(".snakemake/cache").resolve())} | found
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(
                [*self.command, *logger, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=found,
                start_new_session=True,
                pass_fds=[self.lock.fileno(), terminal],
            )
        os.close(terminal)
        return process

    def _end(self, *_: object) -> None:
        """End Snakemake and its jobs, which the user asked for; at once if asked again."""
        self.interrupted += 1
        if self._process:
            self._signal(signal.SIGKILL if self.interrupted > 1 else signal.SIGINT)
            with suppress(OSError, ValueError):  # a file on a full disk
                print(STOPPING, flush=True)

    def _signal(self, number: signal.Signals) -> None:
        """Send a signal to Snakemake and its jobs, unless they have ended."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)


def _endings() -> list[signal.Signals]:
    """Return the signals that end it: of nohup it has that no hang-up does."""
    hang_up = [signal.SIGHUP] if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN else []
    return [signal.SIGINT, signal.SIGTERM, *hang_up]
