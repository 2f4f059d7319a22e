"""The finished files of a run: kept whole, with their digests, and shown from there.

Snakemake removes the outputs of a job before it runs and after it failed. What is kept beside
them, as further names of the same files, outlives that: a run is trained once.
"""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from dpfl.base.files import atomic

KEPT = ".finished"
SUMS = "SHA256SUMS"
FINGERPRINT = "fingerprint"
SOURCES = "sources"
"""The digest of the code that trained the run, to be read of thousands of runs in no time."""
ABOUT = (SUMS, FINGERPRINT, SOURCES)
"""What lies beside the files of a run and is none of them."""


def is_kept(folder: Path, fingerprint: str) -> bool:
    """Tell whether the files of this very run are kept whole."""
    kept = folder / KEPT
    try:
        if (kept / FINGERPRINT).read_text(encoding="utf-8") != fingerprint:
            return False
        sums = (kept / SUMS).read_text(encoding="utf-8")
        return sums == digests(kept)
    except OSError:
        return False


def sources(folder: Path) -> str | None:
    """Return the digest of the code that trained the kept files; None where nothing is kept."""
    try:
        return (folder / KEPT / SOURCES).read_text(encoding="utf-8")
    except OSError:
        return None


def keep(folder: Path, fingerprint: str, sources: str, write: Callable[[Path], None]) -> None:
    """Let `write` put a run's files into a folder, and keep them with their digests."""
    new = folder / f"{KEPT}.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    write(new)
    (new / SUMS).write_text(digests(new), encoding="utf-8")
    (new / SOURCES).write_text(sources, encoding="utf-8")
    (new / FINGERPRINT).write_text(fingerprint, encoding="utf-8")
    shutil.rmtree(folder / KEPT, ignore_errors=True)
    new.rename(folder / KEPT)


def show(folder: Path) -> None:
    """Name the kept files in the run's folder, their digests last; OSError if nothing is kept."""
    kept = folder / KEPT
    names = [path.name for path in _files(kept)]
    if not names:
        raise FileNotFoundError(f"{folder}: nothing is kept of this run; run again")
    for name in (*names, SUMS):
        # Under a name of its own: a process whose Snakemake was killed may show the same run.
        with atomic(folder / name, flush=False) as temporary:
            link(kept / name, temporary)
            os.utime(temporary)


def digests(folder: Path) -> str:
    """Return the digests of a folder's files, in the format of sha256sum."""
    found = ((hashlib.sha256(path.read_bytes()).hexdigest(), path.name) for path in _files(folder))
    return "".join(f"{digest}  {name}\n" for digest, name in found)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*") if path.name not in ABOUT)


def link(source: Path, target: Path) -> None:
    """Give a file a second name; where the file system has none, copy it."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
