"""Checks configuration files by themselves, before Snakemake reads them and puts them together.

Of two equal keys Snakemake keeps the last one, and a file that it cannot read it tells by a
traceback.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpfl.base import yaml_file
from dpfl.base.errors import UserError

RESOLVED = Path(".snakemake/config.json")
"""The configuration of the Snakemake that runs here, for its jobs: too long for an argument."""


def check_folder(home: Path) -> None:
    """Raise a UserError where a call is made from another folder than the workflow's own.

    A working folder with a link to the workflow, as `make verify` has one, is as good.
    """
    if Path("workflow").resolve() != (home / "workflow").resolve():
        raise UserError(f"this runs in the folder {home} only: first cd there")
    if set("{}") & set(str(home)):
        raise UserError(f"{home}: to Snakemake, braces in a path are wildcards; rename the folder")


def check_files(paths: Iterable[str | Path]) -> None:
    """Raise a UserError with a line for every file that is no YAML mapping, or repeats a key."""
    found = list(_mistakes(map(Path, paths)))
    if found:
        raise UserError("\n".join(found))


def _mistakes(paths: Iterable[Path]) -> Iterator[str]:
    for path in paths:
        try:
            yaml_file.read(path, _shown(path))
        except UserError as error:
            yield str(error)


def _shown(path: Path) -> str:
    """Return a path as its user would write it."""
    beneath = path.is_absolute() and path.is_relative_to(Path.cwd())
    return os.path.relpath(path) if beneath else str(path)
