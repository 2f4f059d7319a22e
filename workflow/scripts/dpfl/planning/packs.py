"""Which runs are trained by one job: short ones of a study, one after another in a warm process."""

from collections.abc import Iterator

from dpfl.planning import estimate
from dpfl.planning.plan import Plan, runs_of

MOST = 40
"""Runs of a pack: their settings are an argument of its command, which has a limit."""


def packs(plan: Plan, pack: dict) -> dict[str, list[str]]:
    """Return all runs by the name of their pack; none where runs take longer than packs on average.

    A pack takes about `minutes` on `cores`, by the estimate. It never mixes studies, nor runs that
    wait for a tuned rate with others, which may be the trials of that tuning.
    """
    cost = {name: estimate.seconds(run["settings"]) for name, run in plan.runs.items()}
    limit = 60 * pack["minutes"]
    if sum(cost.values()) > limit * len(cost):
        return {}
    return {
        f"{owner}.{number}": chunk
        for owner, names in _owned(plan)
        for number, chunk in enumerate(_chunks(names, cost, limit * pack["cores"]), 1)
    }


def _owned(plan: Plan) -> Iterator[tuple[str, list[str]]]:
    """Yield every run once: with the first study that has it, or else with a tuning's trials."""
    owners = {
        **{name.replace("/", "."): runs_of([study]) for name, study in plan.studies.items()},
        **{
            name: [run for trial in tuning["trials"] for run in trial["runs"]]
            for name, tuning in plan.tunings.items()
        },
    }
    seen: set[str] = set()
    for owner, names in owners.items():
        new = [name for name in dict.fromkeys(names) if name not in seen]
        seen.update(new)
        yield owner, [name for name in new if not plan.runs[name]["tuning"]]
        yield f"{owner}.tuned", [name for name in new if plan.runs[name]["tuning"]]


def _chunks(names: list[str], cost: dict[str, float], limit: float) -> Iterator[list[str]]:
    """Cut a list where the next run would exceed the limit."""
    chunk: list[str] = []
    for name in names:
        if chunk and (len(chunk) == MOST or sum(cost[n] for n in chunk) + cost[name] > limit):
            yield chunk
            chunk = []
        chunk.append(name)
    if chunk:
        yield chunk
