"""The versioned schema of kept tables: written with every kept folder, checked when it is read.

It has the form of a Frictionless data package, which other programs read too; infinity is `inf`.
"""

import csv
import gzip
import io
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dpfl import plugins
from dpfl.base import files, yaml_file
from dpfl.base.errors import UserError
from dpfl.planning.table_kinds import OF_STUDIES, OTHER

SCHEMA = plugins.WORKFLOW / "schemas" / "tables.yaml"
FILE = "datapackage.json"
TRUTHS = {"True": True, "False": False}
TYPES: dict[str, Callable[[str], Any]] = {
    "boolean": TRUTHS.__getitem__,
    "number": float,
    "string": str,
}
"""How values are read, the narrowest type first."""
SETTING = "a setting that the study varies"
MORE = {
    **dict.fromkeys(OF_STUDIES.values(), SETTING),
    "published": "where the number is printed",
    OTHER: "",
}
"""What the columns mean that a kind of table has beside those of the schema."""


@cache
def declared() -> dict[str, Any]:
    """Return the schema: its version, and the columns of every kind of table."""
    return yaml_file.read(SCHEMA, SCHEMA.name)


def describe(name: str, folder: Path, kinds: Mapping[str, str]) -> None:
    """Write the schema of a folder's tables, given with their kinds, into the folder.

    UserError for a column that the schema does not know.
    """
    fields = {path: _fields(folder, path, kind) for path, kind in sorted(kinds.items())}
    tables = [
        {"name": path, "path": path, "kind": kinds[path], "schema": {"fields": found}}
        for path, found in fields.items()
    ]
    version = str(declared()["version"])
    files.write_json(folder / FILE, {"name": name, "version": version, "resources": tables})


def check(folder: Path) -> None:
    """Compare the tables of a kept folder with its schema; UserError for the first difference."""
    package = files.read_json(folder / FILE)
    own = str(declared()["version"])
    if package["version"] != own:
        raise UserError(
            f"{folder}: its tables are of version {package['version']}, this code reads version "
            f"{own}; keep them again"
        )
    for table in package["resources"]:
        _check(folder / table["path"], table["schema"]["fields"])


def read(path: Path) -> tuple[list[str], list[list[str]]]:
    """Return heads and lines of a CSV file, packed or not, as they are written."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    head, *lines = csv.reader(io.StringIO(text))
    return head, lines


def _check(path: Path, fields: list[dict[str, str]]) -> None:
    head, lines = read(path)
    names = [field["name"] for field in fields]
    if head != names:
        raise UserError(f"{path}: columns {', '.join(head)}, expected {', '.join(names)}")
    for field, values in zip(fields, _columns(head, lines), strict=True):
        wrong = next((v for v in values if not _is(field["type"], v)), None)
        if wrong is not None:
            raise UserError(f"{path}: {field['name']} is {wrong!r}, expected {field['type']}")


def _fields(folder: Path, path: str, kind: str) -> list[dict[str, str]]:
    head, lines = read(folder / path)
    known = declared()["kinds"].get(kind, {})
    unknown = [name for name in head if name not in known]
    if unknown and kind not in MORE:
        raise UserError(f"{path}: column {unknown[0]!r} of {kind} has no meaning in {SCHEMA.name}")
    return [
        _field(name, *known.get(name, (_type(values), MORE.get(kind, ""))))
        for name, values in zip(head, _columns(head, lines), strict=True)
    ]


def _field(name: str, kind: str, meaning: str) -> dict[str, str]:
    return {"name": name, "type": kind, "description": meaning}


def _columns(head: list[str], lines: list[list[str]]) -> Iterator[Iterable[str]]:
    return iter(zip(*lines, strict=True)) if lines else iter([()] * len(head))


def _type(values: Iterable[str]) -> str:
    """Return the narrowest type of a column that no schema knows."""
    listed = list(values)
    if not any(listed):
        return "string"
    return next(kind for kind in TYPES if all(_is(kind, value) for value in listed))


def _is(kind: str, value: str) -> bool:
    """Tell whether a value is of a type; nothing is of any."""
    try:
        return value == "" or TYPES[kind](value) is not None
    except (ValueError, KeyError):
        return False
