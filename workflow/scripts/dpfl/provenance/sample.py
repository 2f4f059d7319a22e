"""Which kept runs are retrained to verify them: a few short ones, of as many methods as fit."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dpfl.planning import estimate
from dpfl.planning.plan import Plan, of_paper
from dpfl.provenance.runs import GRID, Finished

FILE = "sample.json"
MINUTES = 15.0
"""The most that the sample of a folder takes on one core, by the estimate."""
COMPARED = ("metrics.csv", "rates.csv", "model.safetensors")
"""The files of a run that hold its bits."""


def of_paper_runs(plan: Plan, paper: str, results: Path) -> list[dict[str, Any]]:
    """Return a paper's sample, the shortest run first: all that retraining and comparing need."""
    left, found = 60 * MINUTES, []
    for name in _candidates(plan, paper):
        cost = estimate.seconds(plan.runs[name]["settings"])
        if cost > left:
            break
        left -= cost
        found.append(_entry(Finished(name, results), plan))
    return found


def _candidates(plan: Plan, paper: str) -> Iterator[str]:
    """Yield the shortest run of each method, clipping, data set and network; the shortest first.

    Those of a secret that nobody keeps have no bits to find again.
    """
    studies = [plan.studies[name] for name in of_paper(plan.studies, paper)]
    final = [run for s in studies if s["kind"] != GRID for c in s["cells"] for run in c["runs"]]
    ranked = sorted(dict.fromkeys(final), key=lambda run: estimate.seconds(_settings(plan, run)))
    first: dict[tuple, str] = {}
    for run in (run for run in ranked if _settings(plan, run)["noise"] != "secure"):
        first.setdefault(_kind(_settings(plan, run)), run)
    yield from first.values()


def _kind(settings: dict[str, Any]) -> tuple[str, ...]:
    return (
        settings["dataset"],
        settings["model"],
        settings["mechanism"]["estimator"],
        settings["optimizer"]["algorithm"],
        settings["clipping"]["rule"],
    )


def _settings(plan: Plan, run: str) -> dict[str, Any]:
    return plan.runs[run]["settings"]


def _entry(run: Finished, plan: Plan) -> dict[str, Any]:
    """Return what retrains a run, and what it must be compared with."""
    needs, summary = plan.runs[run.name], run.summary
    calibration = plan.calibrations.get(needs["calibration"])
    kept = ("inputs", "sources", "versions", "hardware", "final_test_accuracy")
    return {
        "run": run.name,
        "settings": summary["settings"],
        "partition": plan.partitions[needs["partition"]],
        "calibration": calibration and calibration["settings"],
        **{key: summary[key] for key in kept},
        "files": {name: run.digests[name] for name in COMPARED},
        "estimate": round(estimate.seconds(needs["settings"]), 1),
    }
