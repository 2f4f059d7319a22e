"""Where tables, verdicts and figures of kept runs lie, {paper}/{scale}, and what they came from."""

from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.runs import kept_runs

HOME = Path("results/derived")
OUTLINE, MADE_FROM = "outline.json", "made-from.json"
PARTS = ("studies", "tables", "figures", "claims")


def folders(home: Path) -> list[Path]:
    """Return the derived folders, {paper}/{scale}, in the order of their names."""
    return sorted(path.parent for path in home.glob(f"*/*/{MADE_FROM}"))


def about(folder: Path) -> dict[str, Any]:
    """Return what the kept runs of a derived folder came from."""
    return files.read_json(folder / kept_runs.ABOUT)


def lay_out(folder: Path, home: Path) -> None:
    """Link a derived folder into `home` as the workflow's own results would lie there."""
    told = files.read_json(folder / OUTLINE)
    for part in PARTS:
        place = home / part / told["key"]
        place.parent.mkdir(parents=True, exist_ok=True)
        if (folder / part).is_dir():
            place.symlink_to((folder / part).resolve())
    files.write_json(home / "papers" / f"{told['key']}.json", told)
    files.write_json(home / "provenance" / f"{told['key']}.json", about(folder))
