"""The state of a run: what lies of it in results, and whether today's code would train it so.

Plan, terminal, `make keep` and pages ask here. A run counts by what lies in its folder, wherever
that came from: Snakemake's records and the ages of files say nothing of it.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.runs import finished, sources, tuned

ABSENT, RUNNING, FAILED = "absent", "running", "failed"
STALE, DAMAGED, DONE = "stale", "damaged", "done"
NAMES = (DONE, RUNNING, FAILED, STALE, DAMAGED, ABSENT)
OTHER_CODE = "trained by other code"
OTHER_INPUT = "of a {} by other code"
OTHER_VALUES = "of other values than trials here chose"
TRIALS = "of values whose trials are open"


@dataclass(frozen=True)
class State:
    """One of `NAMES`, with a line of why a run is stale, damaged or failed."""

    name: str
    why: str = ""

    def __str__(self) -> str:
        return f"{self.name}: {self.why}" if self.why else self.name


class Planned(Protocol):
    """What is asked of a plan: its runs and its stages of tuning, by name."""

    runs: dict[str, dict[str, Any]]
    tunings: dict[str, dict[str, Any]]


def of_run(
    run: str, plan: Planned, results: Path, running: bool = True, whole: bool = False
) -> State:
    """Return the state of a planned run, without those of its trials.

    `whole` compares files with their digests; without it their sizes tell, for thousands of runs.
    Without a process that trains, which is `running`, what has begun is not running.
    """
    folder = results / "runs" / run
    why = _stale(run, plan, results)
    if why == "":
        lacking = finished.lacking(folder, whole)
        return State(DAMAGED, f"{lacking} missing or not whole") if lacking else State(DONE)
    if running and (folder / "checkpoint" / "manifest.json").exists():
        return State(RUNNING)
    failure = failure_of(run, results)
    if failure:
        return State(FAILED, failure["message"])
    return State(STALE, why) if why else State(ABSENT)


def open_of(plan: Planned, results: Path, running: bool = True) -> dict[str, State]:
    """Return the runs of a plan that are to be trained, or shown again, in the plan's order.

    A run with an open trial is open: another value may be chosen. What is kept of it is not lost.
    """
    own = {run: of_run(run, plan, results, running) for run in plan.runs}
    undone = {run: state for run, state in own.items() if state.name != DONE}
    late = {stage: not undone.keys().isdisjoint(_trials(plan, stage)) for stage in plan.tunings}
    waiting = {run: State(STALE, TRIALS) for run in own if late.get(plan.runs[run]["tuning"])}
    found = waiting | undone
    return {run: found[run] for run in plan.runs if run in found}


def grouped(states: dict[str, State]) -> dict[str, list[str]]:
    """Return the runs of equal states, by state and reason in words."""
    found: dict[str, list[str]] = {}
    for run, own in states.items():
        found.setdefault(str(own), []).append(run)
    return found


def repeated(states: dict[str, State]) -> list[str]:
    """Return a line for every reason why finished runs are made again, with one of them."""
    again = {run: own for run, own in states.items() if own.name in (STALE, DAMAGED)}
    return [
        f"made again: {len(runs)} {why}, such as {runs[0]}" for why, runs in grouped(again).items()
    ]


def made_by(run: str, plan: Planned) -> dict[str, str]:
    """Return the digests of the code that makes what a run reads, and that chooses its values."""
    tuning = plan.runs[run]["tuning"]
    rule = {"tuning": sources.of_tuning(plan.tunings[tuning]["uses"])} if tuning else {}
    return sources.before_run(plan.runs[run]["settings"]) | rule


def failure_of(run: str, results: Path) -> dict[str, str]:
    """Read message and log of a failed run; {} if it has left nothing that can be read."""
    try:
        found = files.read_json(results / "failures" / f"{run}.json")
        return {key: str(found[key]) for key in ("message", "log")}
    except (OSError, UserError, LookupError, TypeError):
        return {}


def _stale(run: str, plan: Planned, results: Path) -> str | None:
    """Return why the result of a run does not count; "" if it does, None if there is none."""
    found = finished.record(results / "runs" / run)
    if not found:
        return None
    settings = plan.runs[run]["settings"]
    if found["sources"] != sources.of_run(settings):
        return OTHER_CODE
    for part, made in made_by(run, plan).items():
        if found.get(part, made) != made:
            return OTHER_INPUT.format(part)
    try:
        chosen = finished.digest(tuned.filled(settings, results / "tunings"))
    except (OSError, UserError):  # trials have chosen nothing here that can be read
        return ""
    return "" if found.get("settings", chosen) == chosen else OTHER_VALUES


def _trials(plan: Planned, stage: str) -> list[str]:
    return [run for trial in plan.tunings[stage]["trials"] for run in trial["runs"]]
