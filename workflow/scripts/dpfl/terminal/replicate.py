"""`make replicate`: everything that can be made, then the answer and where it stands."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TextIO

from dpfl import data, plugins
from dpfl.base.errors import UserError
from dpfl.checks.config import RESOLVED
from dpfl.papers import datasets
from dpfl.planning import estimate
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.terminal import answer, lock, status
from dpfl.terminal.choice import LAST, Choice
from dpfl.terminal.progress import last_line

SNAKEMAKE = (sys.executable, "-m", "snakemake")
ALWAYS = ("--scheduler", "greedy")  # by default a solver is started for every job that ends
ALWAYS += ("--keep-going", "--rerun-incomplete", "--show-failed-logs", "--nocolor", "--nolock")
PARTIAL = re.compile(
    r"(--dry-?run|--until|--omit-from|-[UO]|-[a-zA-Z]*n[a-zA-Z]*)(=.*)?|results/.*"
)
"""Arguments of Snakemake by which it makes less than everything: the answer may be an older one."""
STOPPING = "stopping: jobs end, what is finished stays (once more: at once)"


@dataclass
class Child:
    """Runs Snakemake once or more, all its output appended to one file, while a lock is held.

    It has a session of its own, so that one signal ends it with all its jobs.
    """

    lock: TextIO
    log: Path
    command: Sequence[str] = SNAKEMAKE
    home: Path | None = None
    """The folder that it runs in, if another; it then tells nothing by itself."""
    watch: Callable[[], None] = int
    """Called every second while it runs."""
    since: float = field(default_factory=time.time)
    """When the call began, in seconds."""
    interrupted: int = 0
    """How often the user asked for an end: at once, if asked again."""

    def run(self, arguments: Sequence[str]) -> int:
        """Run Snakemake to its end, its progress told on our standard output.

        Return its status: less than 0 if a signal killed it.
        """
        for number in (signal.SIGINT, signal.SIGTERM):  # a shell's `&` ignores the former
            signal.signal(number, signal.default_int_handler)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup goes on
            signal.signal(signal.SIGHUP, signal.default_int_handler)
        process = self._started(arguments)
        lock.name(self.lock, process.pid)
        try:
            while process.returncode is None:
                self._wait(process)
        finally:
            if process.returncode is None or process.returncode < 0:
                _end(process, signal.SIGINT)  # also jobs of a Snakemake that was killed
        return process.returncode

    def _wait(self, process: subprocess.Popen) -> None:
        """Wait a second at most; end Snakemake if the user asks for it."""
        try:
            with suppress(subprocess.TimeoutExpired):
                process.wait(1)
            self.watch()
        except KeyboardInterrupt:
            self.interrupted += 1
            _end(process, signal.SIGKILL if self.interrupted > 1 else signal.SIGINT)
            print(STOPPING, flush=True)

    def _started(self, arguments: Sequence[str]) -> subprocess.Popen:
        """Start Snakemake with the plug-in that tells its progress.

        Where HOME cannot be written, as in some containers, its cache lies in .snakemake.
        """
        terminal = os.open(os.devnull, os.O_WRONLY) if self.home else os.dup(1)
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
                cwd=self.home,
                start_new_session=True,
                pass_fds=[self.lock.fileno(), terminal],
            )
        os.close(terminal)
        return process


def _end(process: subprocess.Popen, number: signal.Signals) -> None:
    """Send a signal to Snakemake and its jobs, unless they have ended."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def replicate(
    choice: Choice,
    cores: str,
    more: Sequence[str] = (),
    command: Sequence[str] = SNAKEMAKE,
    closing_rows: answer.Closing = lambda *_: (),
) -> int:
    """Run Snakemake until nothing is left to make, or to fail; return its exit status.

    If runs fail and others do not, a second pass makes tables and report without them. UserError
    for a mistake in the configuration, for data that cannot be had, and if another replicate runs
    in this folder.
    """
    check_cores(cores)
    plan = choice.plan()
    with lock.take() as held:
        choice.keep()
        todo, partial = state.open_of(plan, status.RESULTS), any(map(PARTIAL.fullmatch, more))
        print(estimate.summary(plan, todo), flush=True)
        if not partial:
            _fetch(plan, todo, Path(choice.config()["data_dir"]))
        RESOLVED.unlink(missing_ok=True)
        child = Child(held, LAST.parent / f"{datetime.now():%Y-%m-%d-%H%M%S}.log", command)
        # An option follows the choice, for that may end in a list.
        options = ("--cores", cores, *ALWAYS, *more)
        found = child.run([*choice.arguments(), *options])
        alarms = [] if found or partial else list(answer.alarms())
        if found:
            marking = [*choice.arguments(unfinished="mark"), *options]
            end = _incomplete(found, plan, child, marking)
        else:
            end = () if partial else answer.lines(plan, choice, closing_rows)
        for line in (*end, *alarms):
            print(line, flush=True)
    return found or int(bool(alarms))


def _fetch(plan: Plan, todo: Collection[str], data_dir: Path) -> None:
    """Read what some runs train on and is not prepared; UserError for what cannot be had."""
    names = {plan.runs[run]["settings"]["dataset"] for run in todo}
    lacking = [n for n in names if not (status.RESULTS / f"data/{n}.safetensors").exists()]
    for name in sorted(set(map(datasets.base, lacking))):
        data.read(name, data_dir)


def _incomplete(found: int, plan: Plan, child: Child, marking: Sequence[str]) -> Iterator[str]:
    """Yield why not all was made; if some runs ended, make tables and report with these."""
    left, planned = len(state.open_of(plan, status.RESULTS, running=False)), len(plan.runs)
    if child.interrupted:
        yield f"stopped: {planned - left} of {planned} runs are done; repeat to go on"
    elif found < 0:
        yield f"Snakemake was killed by signal {-found}; repeat to go on"
    elif not RESOLVED.exists():
        yield f"Snakemake stopped before the first job: {last_line(child.log)}"
    else:
        if left:
            yield f"{left} of {planned} runs are without a result: make status tells why"
        if 0 < left < planned and child.run(marking) == 0:
            yield f"report, which marks what is missing: {answer.REPORT}"
            yield from answer.alarms()
            return
        lacking = (
            "There is no report of this" if answer.is_older(child.since) else "not all was made"
        )
        yield f"{lacking}: {last_line(child.log)}"
    yield from answer.older(child.since)


def check_cores(cores: str) -> None:
    """Raise a UserError for what is neither a number of cores nor `all`: with 0, jobs wait."""
    if not re.fullmatch("all|[1-9][0-9]*", cores):
        raise UserError(f"--cores = {cores}, expected a whole number >= 1, or all")
