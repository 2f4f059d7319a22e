"""`make status`: how far the runs of a choice are, from the files that lie in results."""

from collections.abc import Iterator

from tabulate import tabulate

from dpfl.base.files import read_json
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.runs.state import State
from dpfl.terminal import runs
from dpfl.terminal.runs import RESULTS


def states(plan: Plan, running: bool = False) -> dict[str, State]:
    """Return the state of every run; without a process that runs them none is running."""
    todo = state.open_of(plan, RESULTS, running)
    return {name: todo.get(name, State(state.DONE)) for name in plan.runs}


def _manifest(run: str) -> dict:
    """Read of a run that has begun its last whole round; it may end at any moment."""
    try:
        return read_json(RESULTS / "runs" / run / "checkpoint/manifest.json")
    except FileNotFoundError:
        return {}


def lines(plan: Plan, found: dict[str, State]) -> Iterator[str]:
    """Yield the table of studies, the hours left, what is running, has failed, is made again."""
    known = runs.of_plan(plan)
    studies: dict[str, list[str]] = {}
    for run, own in found.items():
        studies.setdefault(known[run].study, []).append(own.name)
    rows = [*studies.items(), ("all", [own.name for own in found.values()])]
    table = [[name, len(of), *(of.count(each) for each in state.NAMES)] for name, of in rows]
    yield from tabulate(table, ["study", "runs", *state.NAMES]).splitlines()
    left = {name: run for name, run in known.items() if found[name].name != state.DONE}
    hours = sum(run.estimate for run in left.values()) / 3600
    yield f"about {hours:.3g} core-hours on CPU left"
    for name, told in runs.names(left).items():
        if found[name].name == state.RUNNING:
            yield f"running  {told}  {_round(name, plan)}"
    yield from (f"failed   {line}" for line in failed(plan, found))
    yield from state.repeated(found)


def failed(plan: Plan, found: dict[str, State]) -> Iterator[str]:
    """Yield the runs that have failed, with message and log."""
    known = runs.of_plan(plan)
    own = {name: run for name, run in known.items() if found[name].name == state.FAILED}
    for name, told in runs.names(own).items():
        why = read_json(runs.failure(name))
        yield f"{told}  {why['message']}  {why['log']}"


def _round(run: str, plan: Plan) -> str:
    """Tell the last whole round of a run that has begun."""
    manifest = _manifest(run)
    accuracy = manifest.get("test_accuracy")
    reached = "" if accuracy is None else f"  {100 * accuracy:.2f} %"
    rounds = plan.runs[run]["settings"]["federation"]["rounds"]
    return f"round {manifest.get('round', '?')} of {rounds}{reached}"
