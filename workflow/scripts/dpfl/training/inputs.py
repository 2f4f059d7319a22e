"""The files a run reads, and the fingerprint of all that its bits depend on."""

import hashlib
import json
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path


@dataclass(frozen=True)
class Inputs:
    """Paths of the arrays, of the client of every example and of the noise; the sources' digest.

    There is no calibration for a non-private run.
    """

    data: Path
    assignment: Path
    calibration: Path | None
    sources: str

    def fingerprint(self, settings: dict) -> str:
        """Digest all that a run's bits depend on: settings, input files, our source, torch."""
        parts = [
            json.dumps(settings, sort_keys=True),
            self.sources,
            *self.digests().values(),
            version("torch"),
        ]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()

    def digests(self) -> dict[str, str]:
        """Return the digests of the files that are read, by what they are."""
        read = {"data": self.data, "assignment": self.assignment, "calibration": self.calibration}
        return {
            name: _digest(path, path.stat().st_mtime_ns)
            for name, path in read.items()
            if path is not None
        }


@cache
def _digest(path: Path, changed: int) -> str:
    """Digest a file, once for all runs of a process that read it unchanged."""
    return hashlib.sha256(path.read_bytes()).hexdigest()
