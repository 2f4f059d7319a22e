"""Reads kept results: which there are, whether they are as they were written; lays them out."""

from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.provenance import schema

FORMAT = "kept-results/1"
ABOUT, OUTLINE = "provenance.json", "outline.json"
PARTS = ("studies", "tables", "figures", "claims")


def folders(reference: Path) -> list[Path]:
    """Return the kept folders, {paper}/{scale}, in the order of their names."""
    found = {path.parent for path in reference.glob("*/*/tables") if path.is_dir()}
    return sorted(found | {path.parent for path in reference.glob(f"*/*/{ABOUT}")})


def about(folder: Path) -> dict[str, Any]:
    """Return what a kept folder came from.

    UserError for a folder that does not say it or is of another format, for files that are not as
    they were kept, and for tables that are not as their schema says.
    """
    path = folder / ABOUT
    if not path.exists():
        raise UserError(f"{path}: not there, so that nothing says what was kept; keep it again")
    found = files.read_json(path)
    told = found if isinstance(found, dict) else {}
    if told.get("format") != FORMAT or not isinstance(told.get("files"), dict):
        said = f"format {told.get('format')}, expected {FORMAT} with its files"
        raise UserError(f"{path}: {said}; keep it again")
    _require_unchanged(folder, found["files"])
    schema.check(folder)
    return found


def lay_out(folder: Path, told: dict[str, Any], home: Path) -> None:
    """Link a kept folder into `home` as the workflow's own results would lie there."""
    paper = told["paper"]
    for part in PARTS:
        place = home / part / paper
        place.parent.mkdir(parents=True, exist_ok=True)
        if (folder / part).is_dir():
            place.symlink_to((folder / part).resolve())
    files.write_json(home / "papers" / f"{paper}.json", files.read_json(folder / OUTLINE))
    files.write_json(home / "provenance" / f"{paper}.json", told)


def _require_unchanged(folder: Path, known: dict[str, dict[str, Any]]) -> None:
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {ABOUT}
    for name in sorted(known.keys() | there):
        if name not in known:
            raise UserError(f"{folder / name}: not what was kept: nothing wrote it")
        if name not in there or files.digest(folder / name) != known[name]["sha256"]:
            raise UserError(f"{folder / name}: not as it was kept; restore it or keep it again")
