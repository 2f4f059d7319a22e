"""What results must be to be kept: finished, of one version of the code, and up to date."""

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.planning import outputs, reads
from dpfl.planning.plan import Plan
from dpfl.planning.restored import is_restored, parted
from dpfl.provenance.runs import Finished
from dpfl.runs.done import is_done
from dpfl.terminal.child import SNAKEMAKE
from dpfl.terminal.choice import Choice

BEFORE_TRAINING = ("prepare_data", "partition", "calibrate", "tune")
"""The rules of what a run reads; a pack that has its trials may have others to train."""
NOTHING = "Nothing to be done"
"""What Snakemake says of files that are up to date."""


def require_finished(plan: Plan, results: Path) -> None:
    """Raise a UserError if runs have no result, or other code than today's has trained them."""
    runs = {name: results / "runs" / name for name in plan.runs}
    missing = [name for name, home in runs.items() if not (home / "summary.json").exists()]
    _none(missing, "without a result", plan)
    other = [name for name, own in plan.runs.items() if not is_done(runs[name], own["settings"])]
    _none(other, "trained by other code than that of this commit", plan)
    _, stale = parted(plan, results)
    _none(stale, "restored, and would be trained again", plan)


def require_current(choice: Choice, plan: Plan, papers: Iterable[str]) -> None:
    """Raise a UserError if Snakemake would make a table, a figure or a claim of papers again."""
    wanted = [path for paper in papers for path in of_paper(plan, paper)]
    if not _nothing_to_do(wanted, choice):
        raise UserError("tables or figures are not those of this commit and this choice")


def require_inputs_current(choice: Choice, plan: Plan, runs: Iterable[str], results: Path) -> None:
    """Raise a UserError if Snakemake would make again what finished runs have read.

    Of restored runs it is not there; the archive they came from says what made it.
    """
    here = [run for run in runs if not is_restored(results / "runs" / run)]
    wanted = sorted({path for run in here for path in reads.of_run(plan, run).values()})
    if wanted and not _nothing_to_do(wanted, choice, "--allowed-rules", *BEFORE_TRAINING):
        raise UserError("what finished runs have read is not what today's code makes")


def has_read_what_is_here(
    name: str, plan: Plan, results: Path, digest: Callable[[Path], str]
) -> bool:
    """Tell whether a run has read the files that lie here; what lies nowhere may be made again."""
    if is_restored(results / "runs" / name):
        return True
    read = Finished(name, results).summary["inputs"]
    paths = {key: results.parent / path for key, path in reads.of_run(plan, name).items()}
    return all(
        digest(paths[key]) == read[key] for key in read.keys() & paths.keys() if paths[key].exists()
    )


def _nothing_to_do(wanted: list[str], choice: Choice, *more: str) -> bool:
    """Tell whether Snakemake would make none of some files again."""
    how = ("--dry-run", "--cores", "1", "--nocolor", *more)
    command = [*SNAKEMAKE, *wanted, *how, *choice.arguments()]
    done = subprocess.run(command, cwd=plugins.WORKFLOW.parent, capture_output=True, text=True)
    return not done.returncode and NOTHING in done.stdout + done.stderr


def of_paper(plan: Plan, paper: str) -> list[str]:
    """Return the paths of all that is kept of a paper, but for its runs."""
    claims = (f"results/claims/{paper}/{table}.csv" for table in ("claims", "published"))
    return [f"results/papers/{paper}.json", *claims, *outputs.files(plan, paper)]


def _none(found: list[str], what: str, plan: Plan) -> None:
    if found:
        raise UserError(f"{len(found)} of {len(plan.runs)} runs are {what}, such as {found[0]}")
