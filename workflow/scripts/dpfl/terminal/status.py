"""`make status`: how far the runs of a choice are, from the files that lie in results."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tabulate import tabulate

from dpfl.base.files import read_json
from dpfl.planning.plan import Plan
from dpfl.planning.restored import parted
from dpfl.terminal import lines, lock, runs
from dpfl.terminal.runs import Results, Run

STATES = ("done", "running", "failed", "open")


@dataclass(frozen=True)
class Status:
    """The runs of a plan and their states."""

    plan: Plan
    known: dict[str, Run]
    states: dict[str, str]
    results: Results

    def lines(self) -> Iterator[str]:
        """Yield the table of studies, the hours left, and what is running and what has failed."""
        yield from tabulate(list(self._rows()), ["study", "runs", *STATES]).splitlines()
        left = [run for run in self.known.values() if self.states[run.name] != "done"]
        yield f"about {sum(run.estimate for run in left) / 3600:.3g} core-hours on CPU left"
        of = lines.Lines(left)
        for run in left:
            if self.states[run.name] == "running":
                yield f"running  {of.name(run)}  {self._round(run.name)}"
        for run in left:
            if self.states[run.name] == "failed":
                told = read_json(self.results.failure(run.name))
                yield f"failed   {of.name(run)}  {told['message']}  {told['log']}"

    def _rows(self) -> Iterator[list[Any]]:
        """Yield a row for every study, and for the runs that only choose rates; all at the end."""
        studies: dict[str, list[str]] = {}
        for name, run in self.known.items():
            studies.setdefault(run.study, []).append(name)
        for study, names in studies.items():
            yield self._row(study, names)
        yield self._row("all", list(self.known))

    def _row(self, name: str, of: list[str]) -> list[Any]:
        counts = Counter(self.states[run] for run in of)
        return [name, len(of), *(counts[state] for state in STATES)]

    def _round(self, run: str) -> str:
        """Tell the last whole round of a run that has begun."""
        manifest = _read(self.results.manifest(run))
        accuracy = manifest.get("test_accuracy")
        reached = "" if accuracy is None else f"  {100 * accuracy:.2f} %"
        rounds = self.plan.runs[run]["settings"]["federation"]["rounds"]
        return f"round {manifest.get('round', '?')} of {rounds}{reached}"


def of_plan(plan: Plan, results: Results | None = None, running: bool = True) -> Status:
    """Read the states of a plan's runs; without a process that runs them none is running."""
    results = results or Results()
    known = runs.of_plan(plan)
    _, stale = parted(plan, results.home)
    states = {
        name: "done"
        if name not in stale and results.is_done(name, plan)
        else _state(name, results, running)
        for name in known
    }
    return Status(plan, known, states, results)


def _state(run: str, results: Results, running: bool) -> str:
    if running and results.manifest(run).exists():
        return "running"
    return "failed" if results.failure(run).exists() else "open"


def _read(path: Any) -> dict[str, Any]:
    """Read a file of a run that may end at any moment, and takes it away then."""
    try:
        return read_json(path)
    except FileNotFoundError:
        return {}


def process() -> str | None:
    """Return who replicates in this folder; None if nobody does."""
    holder = lock.holder()
    return str(holder) if holder and holder.lives() else None
