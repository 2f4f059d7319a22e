"""Runs that did not finish: a plan that waits for them, or one that does without and says so.

A cell is told as a whole. It is left out of its study if any of its runs has no result. A study
of which no cell is left is not made. What is left out is listed with the run's message and log.
"""

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpfl.planning.plan import Plan, trials_of
from dpfl.runs import state

Cell = dict[str, Any]
NO_MESSAGE = "no result, and no message of its own: what it needs did not finish"


def handled(plan: Plan, choice: str, results: Path) -> Plan:
    """Return the plan as the key `unfinished` asks for it: `train` all, or `mark` what is open."""
    return without(plan, state.open_of(plan, results), results) if choice == "mark" else plan


def without(plan: Plan, todo: Collection[str], results: Path) -> Plan:
    """Return the plan of all cells but those that some runs, or trials, belong to."""
    studies, left_out = {}, {}
    for name, study in plan.studies.items():
        waiting = [(cell, _waiting(cell, plan, todo)) for cell in study["cells"]]
        cells = [cell for cell, runs in waiting if not runs]
        marks = [_marked(cell, runs, plan, results) for cell, runs in waiting if runs]
        if marks:
            left_out[name] = {"title": study["title"], "cells": marks}
            study = study | {"cells": cells, "unfinished": marks, "baseline": _kept(study, cells)}
        if cells:
            studies[name] = study
    return replace(plan, studies=studies, unfinished=left_out)


def _waiting(cell: Cell, plan: Plan, todo: Collection[str]) -> dict[str, list[str]]:
    """Return the runs of a cell that wait, each with the trials it waits for, or else itself."""
    found = {}
    for run in cell["runs"]:
        before = [trial for trial in trials_of(plan, run) if trial in todo]
        if before or run in todo:
            found[run] = before or [run]
    return found


def _marked(cell: Cell, waiting: dict[str, list[str]], plan: Plan, results: Path) -> Cell:
    """Return what a cell is, which of its runs are not finished, and why the first is not."""
    kept = ("method", "label", "variant", "epsilon", "unit", "published")
    causes = (run for found in waiting.values() for run in found)
    failures = {run: state.failure_of(run, results) for run in causes}
    told = next((found for found in failures.values() if "message" in found), None)
    first = next(iter(failures))
    log = results / "logs" / "train" / f"{first}.log"  # which stored results do not have
    return {
        **{key: cell[key] for key in kept},
        "seeds": [plan.runs[run]["settings"]["seed"] for run in waiting],
        "runs": list(waiting),
        **(told or {"message": NO_MESSAGE, "log": str(log) if log.exists() else first}),
    }


def _kept(study: dict, cells: list[Cell]) -> dict[str, Any]:
    """Return the baselines of a study that still have a cell."""
    return {
        key: value
        for key, value in study["baseline"].items()
        if any(value == (c["method"] if key == "method" else c["variant"].get(key)) for c in cells)
    }
