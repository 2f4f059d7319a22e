"""Tells what Snakemake brings about: runs as their results appear, stages, failures.

Runs are seen by their files, for a job may train several, here or on another machine. All else is
told by Snakemake's events.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from dpfl.base.files import read_json
from dpfl.terminal import expected, lines
from dpfl.terminal.events import Events
from dpfl.terminal.expected import Expected
from dpfl.terminal.runs import New, Results, Run

STAGES = {
    "prepare_data": "data sets",
    "partition": "partitions",
    "calibrate": "calibrations of noise",
    "tune": "stages of tuning",
    "score_examples": "attacks on final models",
    "analyse": "studies without training",
    "tabulate": "tables",
    "plot": "figures",
    "judge": "papers judged",
    "notebook": "pages of papers",
    "report": "first page",
}
"""What is told of rules that train nothing, in one line when the last job of a rule has ended."""

PATIENCE = 30
"""Looks at a finished run without the time it took, which is written after its result."""


@dataclass(frozen=True)
class Failure:
    """What failed, by name, and where it says why."""

    what: str
    log: Path


class Follower:
    """Tells of a plan's runs and of Snakemake's jobs what is new whenever it looks."""

    def __init__(
        self,
        runs: dict[str, Run],
        events: Path,
        cores: int,
        results: Results | None = None,
        tell: Callable[[str], None] = print,
    ) -> None:
        """Begin with what lies there already."""
        self._runs, self._results, self._tell = runs, results or Results(), tell
        self._lines, self._events = lines.Lines(runs.values()), Events(events)
        self._new = New(self._results.summary, list(runs))
        self._new_failures = New(self._results.failure, list(runs))
        self._told = {
            "run_info": self._plan,
            "job_info": self._begin,
            "job_finished": self._end,
            "job_error": self._error,
            "group_error": self._error,
        }
        self._timed = New(self._results.benchmark, list(runs))
        self._seen: dict[str, int] = {}  # runs that are not told yet, with the looks since
        self._jobs: dict[int, dict[str, Any]] = {}
        self._planned: Counter[str] = Counter()
        self._ended: Counter[str] = Counter()
        self.failed: dict[str, Failure] = {}
        """By run or job; what succeeded in the end is taken out."""
        self._expected = Expected({name: run.estimate for name, run in runs.items()}, cores)
        for name in self.done():
            self._count(name)
        self._told_done = len(self.done())

    @property
    def began(self) -> bool:
        """Tell whether any job has begun."""
        return bool(self._jobs)

    def done(self) -> list[str]:
        """Return the runs that have a result."""
        return [name for name in self._runs if self._results.summary(name).exists()]

    def look(self, last: bool = False) -> None:
        """Tell what is new; a run when its time is known too, or will not be."""
        for name in self._new_failures.appeared():
            told = read_json(self._results.failure(name))
            self._fail(
                name, f"{self._lines.name(self._runs[name])}  {told['message']}", told["log"]
            )
        for event in self._events.new():
            self._told.get(event["event"], _ignore)(event)
        self._seen |= dict.fromkeys(self._new.appeared(), 0)
        for name, looks in list(self._seen.items()):
            self._seen[name] = looks + 1
            if last or looks == PATIENCE or self._timed.has(name):
                del self._seen[name]
                self._finish(name)

    def _finish(self, name: str) -> None:
        self.failed.pop(name, None)
        run, seconds = self._runs[name], self._count(name)
        end = lines.ends(self._expected.left(), datetime.now())
        accuracy = self._results.accuracy(name)
        self._told_done += 1
        line = self._lines.finished(run, self._told_done, accuracy, seconds, end)
        self._tell(lines.stamped(line))

    def _count(self, name: str) -> float | None:
        """Count a run as finished; return the seconds it took."""
        seconds = self._results.seconds(name)
        self._expected.finish(name, self._runs[name].estimate, seconds)
        return seconds

    def _plan(self, event: dict[str, Any]) -> None:
        self._planned, self._ended = Counter(), Counter()
        for rule, count in event["stats"].items():
            self._planned[_stage(rule)] += count
        del self._planned["total"]
        self._jobs = {}
        again = max(0, self._planned["train"] - len(self._runs) + self._told_done)
        self._told_done -= again
        self._expected.again = again
        self._expected.others = expected.others(self._planned)

    def _begin(self, event: dict[str, Any]) -> None:
        self._jobs[event["jobid"]] = event

    def _end(self, event: dict[str, Any]) -> None:
        job = self._jobs.get(event["job_id"])
        if job is None:
            return
        rule = _stage(job["rule_name"])
        self.failed.pop(_key(job), None)
        self._ended[rule] += 1
        self._expected.others = expected.others(self._planned - self._ended)
        if rule in STAGES and self._ended[rule] == self._planned[rule]:
            self._tell(lines.stamped(f"{STAGES[rule]}: {self._ended[rule]} done"))

    def _error(self, event: dict[str, Any]) -> None:
        for error in event.get("job_error_info") or [event]:
            job = {"wildcards": {}, **self._jobs.get(error["jobid"], {}), **error}
            run = self._runs.get(job["wildcards"].get("run", ""))
            what = self._lines.name(run) if run else _key(job)
            log = run.log if run else (job.get("log") or ["no log"])[0]
            self._fail(_key(job), what, log)

    def _fail(self, key: str, what: str, log: Path | str) -> None:
        """Tell a failure once, however often it is tried again."""
        self._expected.drop(key)
        if key not in self.failed:
            self.failed[key] = Failure(what, Path(log))
            self._tell(lines.stamped(f"FAILED  {what.rstrip()}"))
            for line in lines.quoted(Path(log)):
                self._tell(line)


def _stage(rule: str) -> str:
    """Return the rule that jobs are counted as: every analysis has one of its own."""
    return "analyse" if rule.startswith("analyse_") else rule


def _ignore(event: dict[str, Any]) -> None:
    """Most events are told in Snakemake's log only."""


def _key(job: dict[str, Any]) -> str:
    """Return the run that a job is of, or else its rule and what it is made for."""
    wildcards = job.get("wildcards") or {}
    return wildcards.get("run") or " ".join([job["rule_name"], *wildcards.values()])
