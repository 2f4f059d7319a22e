"""What Snakemake's events mean for the runs of a plan: a line for each, and what has failed."""

import time
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from logging import LogRecord
from pathlib import Path

from dpfl.planning import estimate
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.terminal import status
from dpfl.terminal.status import RESULTS

STAGES = (
    *("prepare_data", "partition", "calibrate", "tune", "score_examples", "analyse"),
    *("tabulate", "judge", "notebook", "report"),
)
"""Rules that train nothing and are told, in one line when the last job of a rule has ended."""


class Progress:
    """Tells of a plan's runs when they end, of stages, and of failures."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        """Wait for the plan: what a run is called, and how long it takes, is not known before."""
        self._tell = tell
        self._names: dict[str, str] = {}
        self._open: dict[str, float] = {}
        """Estimated seconds of the runs that are to be trained."""
        self._begun, self._trained = time.monotonic(), 0.0
        self._jobs: dict[int, LogRecord] = {}
        self._left, self._failed = Counter(), set()

    def hear(self, record: LogRecord) -> None:
        """Tell what is new by a record of Snakemake's log; most of them say nothing here."""
        if heard := getattr(self, f"_on_{getattr(record, 'event', None)}", None):
            heard(record)

    def _on_run_info(self, record: LogRecord) -> None:
        for rule, count in record.stats.items():
            self._left[stage_of(rule)] += count

    def _on_plan(self, record: LogRecord) -> None:
        plan: Plan = record.plan
        self._names, todo = status.names_of(plan), state.open_of(plan, RESULTS)
        self._open = {run: estimate.seconds(plan.runs[run]["settings"]) for run in todo}
        self._begun = time.monotonic()

    def _on_job_info(self, job: LogRecord) -> None:
        self._jobs[job.jobid] = job

    def _on_job_finished(self, record: LogRecord) -> None:
        job = self._jobs[record.job_id]
        stage = stage_of(job.rule_name)
        self._left[stage] -= 1
        for run in set(self._runs(job)) & set(self._open):  # others are only shown again
            self._finish(run)
        if stage in STAGES and not self._left[stage]:
            self._say(f"{stage}: done")

    def _finish(self, run: str) -> None:
        self._trained += self._open.pop(run)
        total = len(self._names)
        done = f"{total - len(self._open):{len(str(total))}}/{total}"
        end = datetime.now() + timedelta(seconds=self.seconds_left())
        reached = f"{self._names[run]}  {status.accuracy(run):8}"
        self._say(f"{done}  {reached}  last run {end:%d %b %H:%M}")

    def seconds_left(self) -> float:
        """Return how long the other trainings take, as fast as those until now were done."""
        return (time.monotonic() - self._begun) * sum(self._open.values()) / self._trained

    def _on_job_error(self, record: LogRecord) -> None:
        """Tell the runs of a job that say why they failed, or else the job: a line for each.

        It is told once, however often it is tried again.
        """
        job = self._jobs[record.jobid]
        failed = [(run, state.failure_of(run, RESULTS)) for run in self._runs(job)]
        lines = [f"{self._names[r]}  {why['message']}  {why['log']}" for r, why in failed if why]
        made = " ".join([job.rule_name, *(job.wildcards or {}).values()])
        for line in lines or ["  ".join([made, *map(last_line, record.log[:1])])]:
            if line not in self._failed:
                self._failed.add(line)
                self._say(f"FAILED  {line}")

    def _runs(self, job: LogRecord) -> list[str]:
        """Return the runs whose results a job makes."""
        made = (Path(path) for path in job.output if path.endswith("/summary.json"))
        return [path.parent.name for path in made if path.parent.name in self._names]

    def _say(self, text: str) -> None:
        self._tell(f"{datetime.now():%H:%M:%S}  {text}")


def stage_of(rule: str) -> str:
    """Return what a rule's jobs are counted as: rules made in a loop have a name and more."""
    return next((stage for stage in STAGES if rule.startswith(f"{stage}_")), rule)


def last_line(log: str | Path) -> str:
    """Return the last line of a log that says something, and its path."""
    said = Path(log).read_text(encoding="utf-8", errors="replace") if Path(log).exists() else ""
    return "  ".join([*said.strip().splitlines()[-1:], str(log)])
