"""`make status`: how far the runs of a choice are, from the files that lie in results."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from tabulate import tabulate

from dpfl.base.files import read_json
from dpfl.planning import estimate
from dpfl.planning.plan import Plan, runs_of, runs_with_trials
from dpfl.runs import state
from dpfl.runs.state import State
from dpfl.terminal.choice import Choice, last

RESULTS = Path("results")


def studies_of(plan: Plan) -> dict[str, str]:
    """Return the study of every run: the first that has it, or that is tuned by it.

    Where runs did not finish, others may be in no study that is left.
    """
    left_out = dict.fromkeys(plan.runs, "(left out)")
    names = list(reversed(plan.studies))
    trial = {r: f"{name} (tuning)" for name in names for r in runs_with_trials(plan, [name])}
    return left_out | trial | {run: name for name in names for run in runs_of([plan.studies[name]])}


def names_of(plan: Plan) -> dict[str, str]:
    """Return what a reader knows every run by, in columns: its study, and the name of its files."""
    studies = studies_of(plan)
    width, wide = (max(map(len, texts), default=0) for texts in (studies.values(), studies))
    return {run: f"{studies[run]:{width}}  {run:{wide}}" for run in plan.runs}


def lines(chosen: Choice, running: str) -> Iterator[str]:
    """Yield the table of studies, what is left, is made again, is running and has failed.

    Without a choice, of the last one. `running` is who runs here: if nobody does, what has begun is
    not running.
    """
    yield f"running: {running}" if running else "nothing runs here"
    plan = (chosen or last()).plan()
    names, studies = names_of(plan), studies_of(plan)
    todo = state.open_of(plan, RESULTS, bool(running))
    table = []
    for study in [*dict.fromkeys(studies[run] for run in plan.runs), "all"]:
        own = [run for run in plan.runs if study in (studies[run], "all")]
        found = [todo.get(run, State(state.DONE)).name for run in own]
        table.append([study, len(own), *map(found.count, state.NAMES)])
    yield from tabulate(table, ["study", "runs", *state.NAMES]).splitlines()
    yield estimate.summary(plan, todo)
    for run, own in todo.items():
        if own.name == state.RUNNING:
            yield f"running  {names[run]}  {_round(run, plan)}"
        elif own.name == state.FAILED:
            yield f"failed   {names[run]}  {own.why}  {state.failure_of(run, RESULTS)['log']}"


def _round(run: str, plan: Plan) -> str:
    """Tell the last whole round of a run that has begun; it may end at any moment."""
    manifest: dict[str, Any] = {}
    with suppress(FileNotFoundError):
        manifest = read_json(RESULTS / "runs" / run / "checkpoint/manifest.json")
    accuracy = manifest.get("test_accuracy")
    reached = "" if accuracy is None else f"  {100 * accuracy:.2f} %"
    rounds = plan.runs[run]["settings"]["federation"]["rounds"]
    return f"round {manifest.get('round', '?')} of {rounds}{reached}"


def accuracy(run: str) -> str:
    """Return the test accuracy of a finished run, or that its training diverged."""
    found = read_json(RESULTS / "runs" / run / "summary.json")
    return "diverged" if found["diverged"] else f"{100 * found['final_test_accuracy']:6.2f} %"
