"""The runs of a plan as a reader knows them, and those whose results have appeared."""

import csv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpfl.base.files import read_json
from dpfl.planning import estimate
from dpfl.planning.plan import Plan
from dpfl.runs.done import is_done


@dataclass(frozen=True)
class Run:
    """A run by the first study that has it, or by the first that is tuned by it."""

    name: str
    study: str
    method: str
    epsilon: float | str
    seed: int
    estimate: float
    """Seconds on one core."""

    @property
    def log(self) -> Path:
        """Where its training tells what goes wrong."""
        return Path("results/logs/train") / f"{self.name}.log"


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
    return {name: _run(name, *places[name], plan.runs[name]["settings"]) for name in plan.runs}


def _run(name: str, study: str, method: str, settings: dict[str, Any]) -> Run:
    cost = estimate.seconds(settings)
    return Run(name, study, method, settings["epsilon"], settings["seed"], cost)


def _method(name: str, variant: dict[str, Any]) -> str:
    """Return a method with what a study varies of it."""
    return " ".join([name, *(f"{key}={value}" for key, value in variant.items())])


@dataclass(frozen=True)
class Results:
    """What lies of runs in a folder of results."""

    home: Path = Path("results")

    def summary(self, run: str) -> Path:
        """The file that a finished run has."""
        return self.home / "runs" / run / "summary.json"

    def is_done(self, run: str, plan: Plan) -> bool:
        """Tell whether a run of a plan has a result of today's code."""
        return is_done(self.home / "runs" / run, plan.runs[run]["settings"])

    def failure(self, run: str) -> Path:
        """The file that a failed run has until it succeeds."""
        return self.home / "failures" / f"{run}.json"

    def manifest(self, run: str) -> Path:
        """The file of a run that has begun, about its last whole round."""
        return self.home / "runs" / run / "checkpoint" / "manifest.json"

    def benchmark(self, run: str) -> Path:
        """The file with the seconds that the training of a run took."""
        return self.home / "benchmarks/train" / f"{run}.tsv"

    def accuracy(self, run: str) -> float | None:
        """Return the test accuracy of a finished run in percent; None if its training diverged."""
        found = read_json(self.summary(run))
        return None if found["diverged"] else 100 * found["final_test_accuracy"]

    def seconds(self, run: str) -> float | None:
        """Return what the training of a run took; None if nobody wrote it down."""
        try:
            text = self.benchmark(run).read_text(encoding="utf-8")
            return float(next(csv.DictReader(text.splitlines(), delimiter="\t"))["s"])
        except (OSError, StopIteration, KeyError, ValueError):
            return None


class New:
    """Files of runs that were not there, or were others, when the watch began."""

    def __init__(self, path_of: Callable[[str], Path], runs: list[str]) -> None:
        """Watch a file of every run."""
        self._path_of = path_of
        self._before = {run: _stamp(path_of(run)) for run in runs}

    def appeared(self) -> Iterator[str]:
        """Yield the runs whose file has come since the last call, each once."""
        for run in list(self._before):
            if self.has(run):
                del self._before[run]
                yield run

    def has(self, run: str) -> bool:
        """Tell whether the file of a run has come."""
        return _stamp(self._path_of(run)) not in (self._before[run], None)


def _stamp(path: Path) -> int | None:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return None
