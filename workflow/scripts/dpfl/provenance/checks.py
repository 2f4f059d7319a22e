"""What results must be to be kept: finished, of one version of the code, and up to date."""

import subprocess
from collections.abc import Iterable
from pathlib import Path

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.planning import outputs
from dpfl.planning.plan import Plan
from dpfl.runs import state
from dpfl.terminal.choice import Choice
from dpfl.terminal.replicate import SNAKEMAKE

NOTHING = "Nothing to be done"
"""What Snakemake says of files that are up to date."""


def require_finished(plan: Plan, results: Path) -> None:
    """Raise a UserError if runs are not done, whole, and of today's code."""
    states = state.of_runs(plan, results, whole=True)
    for why, runs in state.grouped(states).items():
        if why != state.DONE:
            raise UserError(f"{len(runs)} of {len(plan.runs)} runs are {why}, such as {runs[0]}")


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
