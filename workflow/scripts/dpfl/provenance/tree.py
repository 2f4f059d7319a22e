"""The commit that is checked out, and what differs from it."""

import subprocess
from pathlib import Path

from dpfl import plugins
from dpfl.base.errors import UserError

KEPT = "results/reference"
"""Kept results are what is written: changes there change no run."""
DECIDES = frozenset({".py", ".yaml", ".csv"})
"""What files of the workflow are called that may decide a result."""
NAMED = 5
"""Files that a refusal names."""


def commit() -> str | None:
    """Return the commit, with `+changes` where files differ from it; None without git."""
    try:
        return _git("rev-parse", "HEAD").strip() + "+changes" * bool(changes())
    except UserError:
        return None


def clean_commit() -> str:
    """Return the commit; UserError naming the files that differ from it."""
    head, changed = _git("rev-parse", "HEAD").strip(), changes()
    if changed:
        more = f" and {len(changed) - NAMED} more" if len(changed) > NAMED else ""
        raise UserError(
            f"files differ from the commit: {', '.join(changed[:NAMED])}{more}; commit them, and "
            "run make replicate again"
        )
    return head


def changes() -> list[str]:
    """Return the files that differ from the commit, new ones too, but for kept results.

    Where git ignores files of the workflow these are new ones too.
    UserError if this folder is none that a commit has.
    """
    _git("ls-files", "--error-unmatch", "Snakefile")
    how = ("--porcelain", "-z", "--untracked-files=all")
    ignored = [*_git("status", *how, "--ignored", "--", "workflow").split("\0")]
    unseen = [e[3:] for e in ignored if e.startswith("!!") and Path(e).suffix in DECIDES]
    found = [entry[3:] for entry in _git("status", *how, "--no-renames").split("\0") if entry]
    return unseen + [p for p in found if not p.startswith(f"{KEPT}/")]


def _git(*command: str) -> str:
    try:
        return subprocess.run(
            ["git", *command],
            cwd=plugins.WORKFLOW.parent,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise UserError("results are kept of a commit: this folder is no git checkout") from error
