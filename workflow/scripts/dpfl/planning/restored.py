"""Runs that came from an archive: results without weights, which no job of this plan has trained.

Such a run is a file like the data, not an output: Snakemake has no record of a job that made it.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpfl import plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.planning import trials
from dpfl.planning.plan import Plan, runs_of
from dpfl.runs import finished, sources, tuned
from dpfl.runs.done import is_done

MARK = "restored"
"""Lies beside the kept files of such a run; training it again replaces these whole."""
BEFORE = "before"
"""Lies beside the mark: digests of the code that made what the run read, and chose its values."""
LEFT_OUT = "model.safetensors"
"""The weights: most of a run's bytes, and read by attacks alone."""


def is_restored(folder: Path) -> bool:
    """Tell whether a run's folder came from an archive."""
    return (folder / finished.KEPT / MARK).exists()


def expected(sums: Path) -> list[str]:
    """Return the files that a run's folder should have, by the file of their digests."""
    left_out = LEFT_OUT if is_restored(sums.parent) else None
    return [name for name in files.sums(sums) if name != left_out]


def parted(plan: Plan, results: Path) -> tuple[list[str], list[str]]:
    """Return the restored runs of a plan that count, and those that are trained again.

    The latter are of other code, have other values than trials here have chosen, or have weights
    that a figure reads.
    """
    counted, stale, attacked = [], [], with_weights(plan)
    for name in plan.runs:
        if is_restored(results / "runs" / name):
            counts = name not in attacked and _is_current(name, plan, results)
            (counted if counts else stale).append(name)
    return counted, stale


def made_by(plan: Plan, run: str) -> dict[str, str]:
    """Return the digests of the code that makes what a run reads, and that chooses its values."""
    tuning = plan.runs[run]["tuning"]
    rule = {"tuning": sources.of_tuning(plan.tunings[tuning]["uses"])} if tuning else {}
    return sources.before_run(plan.runs[run]["settings"]) | rule


def is_as_tuned(run: str, plan: Plan, results: Path) -> bool:
    """Tell whether a finished run has the values that trials here have chosen, if they have."""
    if not plan.runs[run]["tuning"]:
        return True
    try:
        chosen = tuned.filled(plan.runs[run]["settings"], results / "tunings")
    except (OSError, UserError):
        return True
    trained: dict[str, Any] = files.read_json(results / "runs" / run / "summary.json")
    return json.loads(json.dumps(chosen)) == trained["settings"]


def weights_of(stale: list[str], plan: Plan, results: Path) -> list[Path]:
    """Return what only training makes of runs that are trained again, if studies wait for them."""
    behind = trials.and_runs(plan, list(plan.studies))
    return [results / "runs" / run / LEFT_OUT for run in behind if run in stale]


def with_weights(plan: Plan) -> set[str]:
    """Return the runs whose weights some figure of a study reads."""
    return set(
        runs_of(s for s in plan.studies.values() if any(map(_attacks, s.get("figures", []))))
    )


def trained(plan: Plan, restored: list[str]) -> Plan:
    """Return the plan with the runs that are trained here."""
    return replace(plan, runs={k: v for k, v in plan.runs.items() if k not in restored})


def trained_only(restored: list[str]) -> str:
    """Return the pattern of the names of runs that are trained here."""
    without = "|".join(map(re.escape, restored))
    return (f"(?!(?:{without})[/.])" if without else "") + "[a-z0-9.-]+"


def _is_current(run: str, plan: Plan, results: Path) -> bool:
    folder = results / "runs" / run
    if not is_done(folder, plan.runs[run]["settings"]):
        return False
    try:
        before = files.read_json(folder / finished.KEPT / BEFORE)
    except OSError:  # of an archive that did not say so
        return False
    return before == made_by(plan, run) and is_as_tuned(run, plan, results)


def _attacks(figure: str) -> bool:
    read = plugins.constant("figures/kinds", figure, "READS_STUDY", ())
    return any(path.startswith("results/membership/") for path in read)
