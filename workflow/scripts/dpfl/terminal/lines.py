"""How a run, a failure and a time are written, one line each and without control characters."""

from collections import deque
from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path

from dpfl.terminal.runs import Run

TAIL = 5
WIDTH = 200
"""Lines of a log that are shown, and letters of each."""
INDENT = " " * 10


class Lines:
    """Lines whose columns are as wide as the runs of a plan need."""

    def __init__(self, runs: Iterable[Run]) -> None:
        """Measure the runs."""
        runs = list(runs)
        self._total = len(runs)
        self._study = max((len(run.study) for run in runs), default=0)
        self._method = max((len(run.method) for run in runs), default=0)

    def name(self, run: Run) -> str:
        """Return what a reader knows a run by."""
        return (
            f"{run.study:{self._study}}  {run.method:{self._method}}"
            f"  eps {_number(run.epsilon):4}  seed {run.seed:<2}"
        )

    def finished(
        self, run: Run, done: int, accuracy: float | None, seconds: float | None, end: str
    ) -> str:
        """Return the line of a finished run; accuracy in percent, None if the run diverged."""
        width = len(str(self._total))
        reached = "diverged" if accuracy is None else f"{accuracy:6.2f} %"
        took = "" if seconds is None else f"{seconds:.1f} s"
        return f"{done:{width}}/{self._total}  {self.name(run)}  {reached:8}  {took:>9}  {end}"


def _number(epsilon: float | str) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:g}"


def stamped(text: str) -> str:
    """Return a line with the time of the day before it."""
    return f"{datetime.now():%H:%M:%S}  {text}"


def ends(seconds: float, now: datetime) -> str:
    """Return when something ends that takes so many more seconds: the hour, another day's date."""
    end = now + timedelta(seconds=seconds)
    return f"ends {end:%H:%M}" if end.date() == now.date() else f"ends {end:%d %b %H:%M}"


def tail(path: Path) -> list[str]:
    """Return the last lines of a log that say something; [] if there is none."""
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            said = (line.rstrip()[:WIDTH] for line in file if line.strip())
            return list(deque(said, TAIL))
    except OSError:
        return []


def quoted(path: Path) -> list[str]:
    """Return a log's path and its last lines, as lines below another."""
    return [f"{INDENT}{path}", *(f"{INDENT}| {line}" for line in tail(path))]
