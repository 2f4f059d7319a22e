"""The runs of a plan as a reader knows them, and what lies of them in results."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpfl.base.files import read_json
from dpfl.planning import estimate
from dpfl.planning.plan import Plan

RESULTS = Path("results")


@dataclass(frozen=True)
class Run:
    """A run by the first study that has it, or by the first that is tuned by it."""

    study: str
    method: str
    epsilon: float | str
    seed: int
    estimate: float
    """Seconds on one core."""


def of_plan(plan: Plan) -> dict[str, Run]:
    """Return the runs of a plan by name, in its order."""
    places: dict[str, tuple[str, str]] = {}
    for name, study in plan.studies.items():
        for cell in study["cells"]:
            for run in cell["runs"]:
                places.setdefault(run, (name, _method(cell["method"], cell["variant"])))
    for run, (study, method) in list(places.items()):
        tuning = plan.runs[run]["tuning"]
        for number, trial in enumerate(plan.tunings[tuning]["trials"] if tuning else ()):
            # Nobody knows the values of a later stage beforehand.
            tried = trial.get("values", {"trial": number})
            for name in trial["runs"]:
                places.setdefault(name, (f"{study} (tuning)", _method(method, tried)))
    return {name: _run(*places[name], plan.runs[name]["settings"]) for name in plan.runs}


def _run(study: str, method: str, settings: dict[str, Any]) -> Run:
    return Run(study, method, settings["epsilon"], settings["seed"], estimate.seconds(settings))


def _method(name: str, variant: dict[str, Any]) -> str:
    """Return a method with what a study varies of it."""
    return " ".join([name, *(f"{key}={value}" for key, value in variant.items())])


def names(runs: dict[str, Run]) -> dict[str, str]:
    """Return what a reader knows every run by, in columns."""
    columns = [(run.study, run.method, _number(run.epsilon)) for run in runs.values()]
    study, method, epsilon = (max(map(len, c)) for c in zip(("",) * 3, *columns, strict=True))
    return {
        name: f"{a:{study}}  {b:{method}}  eps {c:{epsilon}}  seed {runs[name].seed:<2}"
        for name, (a, b, c) in zip(runs, columns, strict=True)
    }


def _number(epsilon: float | str) -> str:
    return epsilon if isinstance(epsilon, str) else f"{epsilon:g}"


def reached(run: str) -> str:
    """Return the test accuracy of a finished run, or that its training diverged."""
    found = read_json(RESULTS / "runs" / run / "summary.json")
    return "diverged" if found["diverged"] else f"{100 * found['final_test_accuracy']:6.2f} %"


def failure(run: str) -> Path:
    """Return the file that a failed run has until it succeeds: message and log."""
    return RESULTS / "failures" / f"{run}.json"


def seconds(run: str) -> float | None:
    """Return what the training of a run took; None if nobody wrote it down."""
    try:
        text = (RESULTS / "benchmarks/train" / f"{run}.tsv").read_text(encoding="utf-8")
        return float(next(csv.DictReader(text.splitlines(), delimiter="\t"))["s"])
    except (OSError, StopIteration, KeyError, ValueError):
        return None
