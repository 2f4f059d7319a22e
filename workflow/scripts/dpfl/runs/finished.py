"""The finished files of a run: kept whole, with their digests, and shown from there.

Snakemake removes the outputs of a job before it runs and after it failed. What is kept beside
them, as copies, outlives that, and a damage to what is shown: a run is trained once.
"""

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.base.errors import UserError

KEPT = ".finished"
FINGERPRINT = "fingerprint"
SOURCES, MADE = "sources", "made.json"
"""The digest of the code that trained the run; those of its settings and of what made its inputs:
to be read of thousands of runs in no time."""
ABOUT = (files.SUMS, FINGERPRINT, SOURCES, MADE)
"""What lies beside the files of a run and is none of them."""


def is_kept(folder: Path, fingerprint: str) -> bool:
    """Tell whether the files of this very run are kept whole."""
    kept = folder / KEPT
    try:
        same = (kept / FINGERPRINT).read_text(encoding="utf-8") == fingerprint
        return same and files.sums(kept / files.SUMS) == _digests(kept)
    except (OSError, UserError):
        return False


def record(folder: Path) -> dict[str, str]:
    """Return the digest of the code that trained the kept files as `sources`, and what made them.

    {} where nothing is kept, or it cannot be told; an older run has no more than `sources`.
    """
    kept = folder / KEPT
    try:
        own = (kept / SOURCES).read_text(encoding="utf-8")
        made = (kept / MADE).read_text(encoding="utf-8") if (kept / MADE).exists() else "{}"
        return {**json.loads(made), "sources": own}
    except (OSError, ValueError, TypeError):
        return {}


def digest(settings: Any) -> str:
    """Return the digest of a run's settings, with its tuned values."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def keep(
    folder: Path,
    fingerprint: str,
    sources: str,
    write: Callable[[Path], None],
    made: dict[str, str] | None = None,
) -> None:
    """Let `write` put a run's files into a folder, and keep them with their digests."""
    new = folder / f"{KEPT}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    write(new)
    lines = (f"{digest}  {name}\n" for name, digest in _digests(new).items())
    (new / files.SUMS).write_text("".join(lines), encoding="utf-8")
    (new / SOURCES).write_text(sources, encoding="utf-8")
    note(new, made or {})
    (new / FINGERPRINT).write_text(fingerprint, encoding="utf-8")
    shutil.rmtree(folder / KEPT, ignore_errors=True)
    new.rename(folder / KEPT)


def note(kept: Path, made: dict[str, str]) -> None:
    """Write down what made the inputs of kept files; other code may make the same ones later."""
    with files.atomic(kept / MADE, flush=False) as temporary:
        temporary.write_text(json.dumps(made), encoding="utf-8")


def show(folder: Path) -> None:
    """Copy the kept files into the run's folder, their digests last.

    OSError if nothing is kept, UserError for a file that is not whole.
    """
    kept = folder / KEPT
    names = [path.name for path in _files(kept)]
    if not names:
        raise FileNotFoundError(f"{folder}: nothing is kept of this run; run again")
    for name in (*names, files.SUMS):
        files.check(kept / name)
        # Under a name of its own: a process whose Snakemake was killed may show the same run.
        with files.atomic(folder / name, flush=False) as temporary:
            shutil.copyfile(kept / name, temporary)


def lacking(folder: Path, whole: bool = False) -> str | None:
    """Return a kept file that is not shown as it is kept, by its size, or else by its digest."""
    kept = folder / KEPT
    try:
        for path in [*_files(kept), kept / files.SUMS]:
            if (folder / path.name).stat().st_size != path.stat().st_size:
                return path.name
            if whole:
                files.check(folder / path.name)
    except (OSError, UserError):
        return path.name
    return None


def _digests(folder: Path) -> dict[str, str]:
    return {path.name: files.digest(path) for path in _files(folder)}


def _files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.glob("[!.]*") if p.name not in ABOUT)
