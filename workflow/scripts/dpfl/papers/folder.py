"""Finds the folders of papers by name and reads their files; there is no list to edit."""

import os
from dataclasses import dataclass
from functools import cache, reduce
from pathlib import Path
from typing import Any

from dpfl.base import yaml_file
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.papers.merging import merged

WORKFLOW = Path(__file__).parents[3]
HOME = WORKFLOW / "papers"
"""workflow/papers; a folder that begins with an underscore is no paper."""
COMPONENTS = WORKFLOW / "components.yaml"
"""Definitions that papers share."""
ABOUT, STUDIES, PUBLISHED, PAGE = "paper.yaml", "studies.yaml", "published.csv", "page.md"
FILES = (ABOUT, STUDIES, PUBLISHED, PAGE)


@dataclass(frozen=True)
class Paper:
    """A paper: `about` is its paper.yaml, `content` its studies.yaml."""

    key: str
    about: dict[str, Any]
    content: dict[str, Any]

    @property
    def scales(self) -> list[str]:
        """Return the scales at which it can be replicated."""
        return list(self.content.get("scales", {}))


def names(home: Path | None = None) -> list[str]:
    """Return the names of all papers, those of this project or in another home."""
    folders = (path for path in (home or HOME).iterdir() if path.is_dir())
    return sorted(path.name for path in folders if not path.name.startswith("_"))


def full_name(paper: str, study: str) -> str:
    """Return `paper/study`, as a study of any paper is called; one of another paper is it."""
    return study if "/" in study else f"{paper}/{study}"


def path_of(key: str, file: str) -> Path:
    """Return the path of a paper's file; UserError with the nearest name for an unknown paper."""
    if key not in names():
        raise UserError(f"config: papers: no {key!r} in workflow/papers; {nearest(key, names())}")
    return HOME / key / file


@cache
def load(key: str) -> Paper:
    """Read a paper's files; UserError for one that is missing or is no YAML mapping."""
    return Paper(key, *(read(path_of(key, file)) for file in (ABOUT, STUDIES)))


@cache
def shared(section: str) -> dict[str, Any]:
    """Return what components.yaml says in a section, with what all papers add to it."""
    layers = [read(COMPONENTS), *(load(key).content for key in names())]
    return reduce(merged, (layer.get(section, {}) for layer in layers))


def read(path: Path, name: str = "") -> dict[str, Any]:
    """Read a YAML file that holds a mapping; UserError for one that is missing or damaged.

    Messages call it by `name`, or else by its path in the project.
    """
    where = name or shown(path)
    if not name and not path.exists():
        raise UserError(f"{where}: missing; workflow/papers/_template has one")
    try:
        return yaml_file.read(path, where)
    except UserError as error:
        mark = getattr(error.__cause__, "problem_mark", None)
        lines = path.read_text(encoding="utf-8").splitlines() if mark else []
        if any(line.startswith("\t", mark.column) for line in lines[mark and mark.line :][:1]):
            place = f"{where}, line {mark.line + 1}, column {mark.column + 1}"
            raise UserError(f"{place}: a tab, expected blanks") from error
        raise


def shown(path: Path) -> str:
    """Return a file's path as users write it, from the root of the project."""
    return Path(os.path.relpath(path, HOME.parents[1])).as_posix()
