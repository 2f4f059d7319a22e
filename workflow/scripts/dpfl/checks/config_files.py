"""Checks configuration files by themselves, before Snakemake reads them and puts them together.

Of two equal keys Snakemake keeps the last one, and a file that it cannot read it tells by a
traceback.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from dpfl.base import yaml_file
from dpfl.base.errors import UserError


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
