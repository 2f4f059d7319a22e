"""The state of a run: what lies of it in results, and whether today's code would train it so.

Plan, terminal, `make keep` and pages ask here. A run counts by what lies in its folder, wherever
that came from: Snakemake's records and the ages of files say nothing of it. A plan is one of
`planning.plan`, a room above: its runs, stages of tuning, studies and papers are read here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpfl import plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.runs import finished, kept_runs, sources
from dpfl.tuning.parts import tuned

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


def of_run(run: str, plan: Any, results: Path, running: bool = True, whole: bool = False) -> State:
    """Return the state of a planned run, without those of its trials.

    `whole` compares files with their digests; without it their sizes tell, for thousands of runs.
    Without a process that trains, which is `running`, what has begun is not running.
    """
    folder = results / "runs" / run
    found = finished.record(folder)
    why = _stale(found, run, plan, results) if found else None
    if why == "":
        lacking = finished.lacking(folder, whole)
        return State(DAMAGED, f"{lacking} missing or not whole") if lacking else State(DONE)
    if running and (folder / "checkpoint" / "manifest.json").exists():
        return State(RUNNING)
    failure = failure_of(run, results)
    if failure:
        return State(FAILED, failure["message"])
    return State(STALE, why) if why else State(ABSENT)


def of_runs(
    plan: Any, results: Path, running: bool = True, whole: bool = False
) -> dict[str, State]:
    """Return the state of every run of a plan; one that counts by its kept row is done."""
    own = {run: of_run(run, plan, results, running, whole) for run in plan.runs}
    return own | dict.fromkeys(counted(plan, results), State(DONE))


def counted(plan: Any, results: Path) -> dict[str, Path]:
    """Return the runs that count by a kept row, with the folder that has it.

    Such a row is of today's code, settings and inputs. A run that has finished here goes before
    it, and so does one whose weights a figure reads, which nobody keeps. A folder that is
    not as it was kept counts for nothing: a certificate that was written by hand is none.
    """
    found: dict[str, Path] = {}
    homes = ("unfinished", "reference") if plan.counts_kept else ()
    folders = [folder for home in homes for folder in kept_runs.folders(results / home)]
    for folder in (folder for folder in folders if folder.parent.name in plan.papers):
        for row in _rows(folder):
            if row["run"] in plan.runs and _is_current(row, plan, results):
                found[row["run"]] = folder
    weighed = _with_weights(plan) if found else set()
    return {run: folder for run, folder in found.items() if run not in weighed}


def open_of(plan: Any, results: Path, running: bool = True) -> dict[str, State]:
    """Return the runs of a plan that are to be trained, or shown again, in the plan's order.

    A run with an open trial is open: another value may be chosen. What is kept of it is not lost.
    """
    own = of_runs(plan, results, running)
    undone = {run: state for run, state in own.items() if state.name != DONE}
    late = {
        name: not undone.keys().isdisjoint(tuned.trials_of(stage))
        for name, stage in plan.tunings.items()
    }
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


def made_by(run: str, plan: Any) -> dict[str, str]:
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


def weighed(study: dict[str, Any]) -> list[str]:
    """Return the figures of a study that have a table, which is made of final models."""
    drawn = study.get("figures", [])
    return [name for name in drawn if plugins.constant("figures/kinds", name, "TABLE", False)]


def _rows(folder: Path) -> list[kept_runs.Row]:
    """Return the rows of a kept folder; none where its digests differ, which deriving tells."""
    try:
        kept_runs.about(folder)
        return kept_runs.rows(folder)
    except UserError:
        return []


def _is_current(row: kept_runs.Row, plan: Any, results: Path) -> bool:
    """Tell whether a kept row counts: nothing has finished here, and it is made by today's code.

    Or it was `accepted` as if it were: a sample of its kind, trained again, had equal bits.
    """
    told = row | row.get("accepted", {})
    if "made" not in told or finished.record(results / "runs" / row["run"]):
        return False
    own = {"sources": told["sources"], "settings": finished.digest(row["settings"])}
    return not _stale(told["made"] | own, row["run"], plan, results)


def _with_weights(plan: Any) -> set[str]:
    """Return the runs of studies with a figure that reads final models."""
    studies = filter(weighed, plan.studies.values())
    return {run for study in studies for cell in study["cells"] for run in cell["runs"]}


def _stale(found: dict[str, str], run: str, plan: Any, results: Path) -> str:
    """Return why a result of a run, made by code of some digests, does not count; "" if it does."""
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
