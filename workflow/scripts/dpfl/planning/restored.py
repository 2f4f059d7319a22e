"""Runs that came from an archive: results without weights, which no job of this plan has trained.

Such a run is a file like the data, not an output: Snakemake has no record of a job that made it.
"""

import re
import shutil
from dataclasses import replace
from pathlib import Path

from dpfl import files, plugins
from dpfl.planning.done import is_done
from dpfl.planning.plan import Plan, runs_of
from dpfl.training import finished

MARK = "restored"
"""Lies beside the kept files of such a run; training it again replaces these whole."""
LEFT_OUT = "model.safetensors"
"""The weights: most of a run's bytes, and read by attacks alone."""


def is_restored(folder: Path) -> bool:
    """Tell whether a run's folder came from an archive."""
    return (folder / finished.KEPT / MARK).exists()


def expected(sums: Path) -> list[str]:
    """Return the files that a run's folder should have, by the file of their digests."""
    left_out = LEFT_OUT if is_restored(sums.parent) else None
    return [name for name in files.sums(sums) if name != left_out]


def names(plan: Plan, results: Path) -> list[str]:
    """Return the restored runs of a plan that count: of today's code, their weights not asked for.

    Those of other code, and those whose weights a figure reads, are removed and so trained.
    """
    found, attacked = [], with_weights(plan)
    for name, run in plan.runs.items():
        folder = results / "runs" / name
        if not is_restored(folder):
            continue
        if is_done(folder, run["settings"]) and name not in attacked:
            found.append(name)
        else:
            shutil.rmtree(folder)
    return found


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


def _attacks(figure: str) -> bool:
    read = plugins.constant("plots", figure, "READS_STUDY", ())
    return any(path.startswith("results/membership/") for path in read)
