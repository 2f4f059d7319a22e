"""What one job does, one after another in a warm process: short runs, partitions, calibrations."""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from dpfl.planning import estimate
from dpfl.planning.plan import Plan

MOST = 40
"""Runs of a pack: their settings are an argument of its command, which has a limit."""
MOST_PREPARED = 20
"""Partitions or calibrations of a job, for the same reason."""


def packs(plan: Plan, pack: dict, todo: Collection[str]) -> dict[str, list[str]]:
    """Return the runs to do by the name of their pack; one in each where runs take longer.

    A pack takes about `minutes` on `cores`, by the estimate. It never mixes papers, nor runs that
    wait for a stage of tuning with others. So a trial that fails holds up no run but those of its
    tuning. It is cut from all runs of a plan, so that those that are done meanwhile move no other.
    """
    made = _cut(plan, pack)
    return {name: [run for run in runs if run in todo] for name, runs in made.items()}


def partitions(plan: Plan, pack: dict) -> list[list[str]]:
    """Return the partitions that one job makes: of one data set, by one scheme."""
    kinds = {n: (p["dataset"], p["settings"]["scheme"]) for n, p in plan.partitions.items()}
    return _alike(kinds, pack)


def calibrations(plan: Plan, pack: dict) -> list[list[str]]:
    """Return the calibrations that one job finds: by one accountant, for one kind of budget."""
    asked = {name: found["settings"] for name, found in plan.calibrations.items()}
    kinds = {n: (own["accountant"], own["budget"]["strategy"]) for n, own in asked.items()}
    return _alike(kinds, pack)


def by_folder(counted: dict[str, Path], most: int = 1000) -> list[tuple[Path, list[str]]]:
    """Return folders of kept runs with those of their runs that count, at most so many a piece."""
    found = _grouped(counted).items()
    return [(folder, piece) for folder, runs in found for piece in _pieces(runs, most)]


def _alike(kinds: dict[str, Any], pack: dict) -> list[list[str]]:
    """Return names of equal kind together, at most so many; each alone if packs are off."""
    most = MOST_PREPARED if pack["minutes"] else 1
    return [piece for names in _grouped(kinds).values() for piece in _pieces(names, most)]


def _grouped(kinds: dict[str, Any]) -> dict[Any, list[str]]:
    """Return the names of every kind, in their order."""
    found: dict[Any, list[str]] = {}
    for name, kind in kinds.items():
        found.setdefault(kind, []).append(name)
    return found


def _pieces(names: list[str], most: int) -> Iterator[list[str]]:
    return (names[first : first + most] for first in range(0, len(names), most))


def _cut(plan: Plan, pack: dict) -> dict[str, list[str]]:
    """Return all runs in packs named by the stage that they wait for, or their first paper."""
    seconds = {name: estimate.seconds(run["settings"]) for name, run in plan.runs.items()}
    limit = 60 * pack["minutes"]
    if sum(seconds.values()) > limit * len(seconds):
        return {name: [name] for name in plan.runs}
    # A process is started once for all of a pack.
    cost = {name: each - estimate.STARTUP_SECONDS for name, each in seconds.items()}
    owners = {name: run["tuning"] or run["paper"] for name, run in plan.runs.items()}
    return {
        f"{owner}.{number}": chunk
        for owner, names in _grouped(owners).items()
        for number, chunk in enumerate(_chunks(names, cost, limit * pack["cores"]), 1)
    }


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
