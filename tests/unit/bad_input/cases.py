"""Reads the tables of mistakes, and meets each as Snakefile and calculator meet it: in process."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

import privacy
from dpfl.checks import config as configuration
from dpfl.papers import folder, published
from dpfl.papers.merging import merged
from dpfl.planning import plan

HERE = Path(__file__).parent
PAPER = "new2024"
OF_PAPERS = ("studies", "analyses")


@dataclass(frozen=True)
class Place:
    """Where a mistake is made: the sources, an empty folder, and what pytest can replace."""

    root: Path
    empty: Path
    monkeypatch: Any

    @property
    def default(self) -> dict:
        """Return config.yaml."""
        return yaml.safe_load((self.root / "config.yaml").read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Case:
    """One mistake: how it is made, the words of its line, and how many lines there are."""

    table: str
    mistake: dict[str, Any]
    says: tuple[str, ...]
    lines: int | str

    def __str__(self) -> str:
        return f"{self.table}: {json.dumps(self.mistake, default=str)[:220]}"

    def meet(self, place: Place) -> None:
        """Do what the workflow or the calculator does before it starts anything."""
        MEETS[self.table](self.mistake, place)

    def expect(self, told: str) -> None:
        """Check the words of what is told, in one line, and that no other line is told."""
        lines = told.splitlines()
        assert any(all(word in line for word in self.says) for line in lines), told
        assert self.lines in ("any", len(lines)), told
        assert all(0 < len(line) <= LONGEST for line in lines)


LONGEST = 420
"""Characters of a line, most of them in lists of names that exist."""


def tree(path: str, value: Any) -> dict:
    """Return what a path such as studies/meng2023/rates/seeds says, as a user's file says it."""
    first, *rest = path.split("/")
    if first in OF_PAPERS and len(rest) > 1:
        rest = ["/".join(rest[:2]), *rest[2:]]
    for key in reversed([first, *rest]):
        value = {key: value}
    return value


def changes(mistake: dict) -> dict:
    """Return the user's file of a case of configuration.yaml."""
    if "long" in mistake:
        section = mistake["long"]
        name = ("meng2023/" if section in OF_PAPERS else "") + "x" * 101
        return {"papers": ["meng2023"], section: {name: mistake["is"]}}
    said: dict = {"papers": ["meng2023"]}
    for path, value in mistake["set"].items():
        said = merged(said, tree(path, value))
    return said


def _configuration(mistake: dict, place: Place) -> None:
    plan.make(configuration.composed(merged(place.default, changes(mistake))))


def write_paper(mistake: dict, template: Path, paper: Path) -> None:
    """Write the template's paper, with what a case of papers.yaml changes in it."""
    shutil.copytree(template, paper)
    (paper / folder.PAGE).write_text("Prose.", encoding="utf-8")
    for file, text in mistake.get("write", {}).items():
        (paper / file).write_text(text, encoding="utf-8")
    for file, content in mistake.get("bytes", {}).items():
        (paper / file).write_bytes(bytes(content))
    for file in mistake.get("delete", []):
        (paper / file).unlink()
    for file in mistake.get("folders", []):
        (paper / file).unlink()
        (paper / file).mkdir()
    for file in (folder.ABOUT, folder.STUDIES):
        if file in mistake:
            content = yaml.safe_load((paper / file).read_text(encoding="utf-8"))
            for path, value in mistake[file].items():
                _put(content, path.split("/"), value)
            (paper / file).write_text(yaml.safe_dump(content), encoding="utf-8")


def _put(content: Any, path: list[str], value: Any) -> None:
    """Set one value; a number in the path counts the items of a list."""
    *above, last = path
    for key in above:
        content = content[int(key)] if isinstance(content, list) else content.setdefault(key, {})
    content[int(last) if isinstance(content, list) else last] = value


def _papers(mistake: dict, place: Place) -> None:
    home, name = place.empty / "papers", mistake.get("named", PAPER)
    write_paper(mistake, place.root / "workflow" / "papers" / "_template", home / name)
    place.monkeypatch.setattr(folder, "HOME", home)
    for cached in (folder.load, published.read):
        cached.cache_clear()
    try:
        plan.make(configuration.composed(place.default | {"papers": [name]}))
    finally:
        for cached in (folder.load, published.read):
            cached.cache_clear()


def _files(mistake: dict, place: Place) -> None:
    path = place.empty / "mine.yaml"
    if "bytes" in mistake:
        path.write_bytes(bytes(mistake["bytes"]))
    elif "text" in mistake:
        path.write_text(mistake["text"], encoding="utf-8")
    elif mistake.get("is") == "folder":
        path.mkdir()
    configuration.read_files([path])


def _calculator(mistake: dict, place: Place) -> None:
    cache = ["--cache", str(place.empty / "cache")]
    words = mistake["call"].split()
    place.monkeypatch.setattr(
        sys, "argv", ["privacy.py", *words, *(cache if words[:1] in CACHED else [])]
    )
    privacy.main()


CACHED = (["noise"], ["schedule"])
MEETS: dict[str, Callable[[dict, Place], None]] = {
    "configuration": _configuration,
    "papers": _papers,
    "files": _files,
    "calculator": _calculator,
}


def _read(table: str) -> list[Case]:
    rows = yaml.safe_load((HERE / f"{table}.yaml").read_text(encoding="utf-8"))
    return [
        Case(
            table,
            {key: value for key, value in row.items() if key not in ("says", "lines")},
            tuple(row["says"]),
            row.get("lines", 1),
        )
        for row in rows
    ]


ALL = [case for table in MEETS for case in _read(table)]
