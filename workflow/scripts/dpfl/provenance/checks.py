"""What results must be to be kept: finished, of one version of the code, and up to date."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from dpfl import plugins
from dpfl.errors import UserError
from dpfl.planning import outputs
from dpfl.planning.done import is_done
from dpfl.planning.plan import Plan
from dpfl.terminal.child import SNAKEMAKE
from dpfl.terminal.choice import Choice

NOTHING = "Nothing to be done"
"""What Snakemake says of files that are up to date."""


def require_finished(plan: Plan, results: Path) -> None:
    """Raise a UserError if runs have no result, or other code than today's has trained them."""
    runs = {name: results / "runs" / name for name in plan.runs}
    missing = [name for name, home in runs.items() if not (home / "summary.json").exists()]
    _none(missing, "without a result", plan)
    other = [name for name, own in plan.runs.items() if not is_done(runs[name], own["settings"])]
    _none(other, "trained by other code than that of this commit", plan)


def require_current(choice: Choice, plan: Plan, papers: Iterable[str]) -> None:
    """Raise a UserError if Snakemake would make a table, a figure or a claim of papers again."""
    wanted = [path for paper in papers for path in of_paper(plan, paper)]
    command = [*SNAKEMAKE, *wanted, "--dry-run", "--cores", "1", "--nocolor", *choice.arguments()]
    done = subprocess.run(command, cwd=plugins.WORKFLOW.parent, capture_output=True, text=True)
    if done.returncode or NOTHING not in done.stdout + done.stderr:
        raise UserError("tables or figures are not those of this commit and this choice")


def of_paper(plan: Plan, paper: str) -> list[str]:
    """Return the paths of all that is kept of a paper, but for its runs."""
    claims = (f"results/claims/{paper}/{table}.csv" for table in ("claims", "published"))
    return [f"results/papers/{paper}.json", *claims, *outputs.files(plan, paper)]


def _none(found: list[str], what: str, plan: Plan) -> None:
    if found:
        raise UserError(f"{len(found)} of {len(plan.runs)} runs are {what}, such as {found[0]}")
