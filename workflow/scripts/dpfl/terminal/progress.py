"""What Snakemake's events mean for the runs of a plan: a line for each, and what has failed."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from logging import LogRecord
from pathlib import Path

from dpfl.planning import estimate
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.terminal import status
from dpfl.terminal.status import RESULTS

STAGES = {
    "prepare_data": "data sets",
    "partition": "sets of partitions",
    "calibrate": "sets of noise multipliers",
    "tune": "stages of tuning",
    "score_examples": "attacks on final models",
    "analyse": "studies without training",
    "tabulate": "tables and figures of studies",
    "judge": "papers judged",
    "notebook": "pages of papers",
    "report": "first page",
}
"""What is told of rules that train nothing, in one line when the last job of a rule has ended."""
OTHER_SECONDS = 2.0
"""Of a job that trains nothing, on a core."""
TAIL, WIDTH, INDENT = 5, 200, " " * 10
"""Lines of a log that are quoted, the letters of each, and what stands before them."""


class Progress:
    """Tells of a plan's runs when they end, of stages, and of failures."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Wait for the plan: what a run is called, and how long it takes, is not known before."""
        self._tell = tell
        self._names: dict[str, str] = {}
        self._open: dict[str, float] = {}
        """Seconds of the runs that are to be trained, on one core."""
        self._at_once, self._estimated, self._taken = 1, 0.0, 0.0
        self._jobs: dict[int, LogRecord] = {}
        self._left, self._ended, self._failed = Counter(), Counter(), set()

    def hear(self, record: LogRecord) -> None:
        """Tell what is new by a record of Snakemake's log; most of them say nothing here."""
        if heard := getattr(self, f"_on_{getattr(record, 'event', None)}", None):
            heard(record)

    def _on_resources_info(self, record: LogRecord) -> None:
        """Learn how many jobs run at a time: on cores here, or on nodes of a cluster."""
        given = getattr(record, "cores", None) or getattr(record, "nodes", None)
        self._at_once = given or self._at_once

    def _on_run_info(self, record: LogRecord) -> None:
        for rule, count in record.stats.items():
            self._left[_stage(rule)] += count

    def _on_plan(self, record: LogRecord) -> None:
        plan: Plan = record.plan
        self._names, todo = status.names_of(plan), state.open_of(plan, RESULTS)
        self._open = {run: estimate.seconds(plan.runs[run]["settings"]) for run in todo}

    def _on_job_info(self, job: LogRecord) -> None:
        self._jobs[job.jobid] = job

    def _on_job_finished(self, record: LogRecord) -> None:
        job = self._jobs[record.job_id]
        stage = _stage(job.rule_name)
        self._left[stage] -= 1
        self._ended[stage] += 1
        for run in set(self._runs(job)) & set(self._open):  # others are only shown again
            self._finish(run)
        if stage in STAGES and not self._left[stage]:
            self._say(f"{STAGES[stage]}: {self._ended[stage]} done")

    def _finish(self, run: str) -> None:
        estimated, took = self._open.pop(run), status.seconds(run)
        if took:
            self._estimated, self._taken = self._estimated + estimated, self._taken + took
        total = len(self._names)
        done = f"{total - len(self._open):{len(str(total))}}/{total}"
        seconds = "" if took is None else f"{took:.1f} s"
        end = datetime.now() + timedelta(seconds=self.seconds_left())
        reached = f"{self._names[run]}  {status.accuracy(run):8}  {seconds:>9}"
        self._say(f"{done}  {reached}  ends {end:%d %b %H:%M}")

    def seconds_left(self) -> float:
        """Return the estimates, corrected by what runs took: all cores at work, no run divided."""
        ratio = self._taken / self._estimated if self._estimated else 1.0
        runs = self._open.values()
        others = OTHER_SECONDS * sum(self._left[stage] for stage in STAGES)
        return ratio * max([sum(runs) / self._at_once, *runs]) + others / self._at_once

    def _on_job_error(self, record: LogRecord) -> None:
        """Tell the runs of a job that say why they failed, or else the job."""
        job = self._jobs[record.jobid]
        failed = {run: state.failure_of(run, RESULTS) for run in self._runs(job)}
        for run, why in failed.items():
            if why:
                self._fail(run, f"{self._names[run]}  {why['message']}", why["log"])
        if not any(failed.values()):
            self._fail(_made(job), _made(job), *record.log[:1])

    def _fail(self, key: str, what: str, log: str = "no log") -> None:
        """Tell a failure once, however often it is tried again."""
        if key not in self._failed:
            self._failed.add(key)
            self._say(f"FAILED  {what}")
            for line in quoted(Path(log)):
                self._tell(line)

    def _runs(self, job: LogRecord) -> list[str]:
        """Return the runs whose results a job makes."""
        made = (Path(path) for path in job.output if path.endswith("/summary.json"))
        return [path.parent.name for path in made if path.parent.name in self._names]

    def _say(self, text: str) -> None:
        self._tell(f"{datetime.now():%H:%M:%S}  {text}")


def _stage(rule: str) -> str:
    """Return what a rule's jobs are counted as: rules made in a loop have a name and more."""
    return next((stage for stage in STAGES if rule.startswith(f"{stage}_")), rule)


def _made(job: LogRecord) -> str:
    """Return a job's rule and what it is made for."""
    return " ".join([job.rule_name, *(job.wildcards or {}).values()])


def quoted(path: Path) -> Iterator[str]:
    """Yield a log's path and its last lines that say something, as lines below another."""
    yield f"{INDENT}{path}"
    if path.exists():
        with path.open(encoding="utf-8", errors="replace") as file:
            said = (line.rstrip()[:WIDTH] for line in file if line.strip())
            yield from (f"{INDENT}| {line}" for line in deque(said, TAIL))
