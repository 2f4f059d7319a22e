"""Which command and commit the results of a folder come from."""

import shlex

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.provenance import tree
from dpfl.report.reader import Folder

KEYS = {"papers": "PAPER", "select": "STUDY", "scale": "SCALE"}


def of_run(folder: Folder) -> dict[str, str]:
    """Return command and commit of this run, with the versions of what wrote the pages."""
    return {"command": _command(folder), "commit": _commit()}


def of_paper(key: str, scale: str) -> str:
    """Return the command that runs one paper at one scale."""
    return f"make replicate PAPER={shlex.quote(key)} SCALE={shlex.quote(scale)}"


def _command(folder: Folder) -> str:
    try:
        config = files.read_json(folder.path / "config.json")
    except (OSError, ValueError):
        return "make replicate"
    given = {name: config.get(key) for key, name in KEYS.items()}
    texts = {n: " ".join(v) if isinstance(v, list) else v for n, v in given.items() if v}
    return " ".join(["make replicate", *(f"{n}={shlex.quote(v)}" for n, v in texts.items())])


def _commit() -> str:
    try:
        return tree.clean_commit()
    except UserError:
        return "none: files differ from the commit, or there is no repository"
