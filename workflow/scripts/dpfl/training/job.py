"""One run as a job: what it reads, and the files that say how it went."""

import hashlib
import json
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dpfl.base import files
from dpfl.runs import finished
from dpfl.tuning.parts import tuned

CHECKPOINT = "checkpoint"
"""The folder, in that of a run, which it continues from."""


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
    return files.digest(path)


@dataclass(frozen=True)
class Job:
    """A run, with its resolved settings and the folder of all results."""

    run: str
    settings: dict[str, Any]
    inputs: Inputs
    results: Path
    made: dict[str, str] = field(default_factory=dict)
    """Digests of the code that made what it reads, and of its settings with tuned values."""

    @property
    def folder(self) -> Path:
        """Where the run's files are."""
        return self.results / "runs" / self.run

    @property
    def log(self) -> Path:
        """Where it tells its progress."""
        return self.results / "logs" / "train" / f"{self.run}.log"

    @property
    def failure(self) -> Path:
        """Where it says why it failed, as long as it does."""
        return self.results / "failures" / f"{self.run}.json"

    @property
    def benchmark(self) -> Path:
        """What its training cost, and when it ended: seconds, CPU seconds, MiB, UTC."""
        return self.results / "benchmarks" / "train" / f"{self.run}.tsv"

    @cached_property
    def fingerprint(self) -> str:
        """What its bits depend on."""
        return self.inputs.fingerprint(self.settings)

    def is_finished(self) -> bool:
        """Tell whether the files of this very run are kept whole."""
        return finished.is_kept(self.folder, self.fingerprint)

    def settle(self) -> bool:
        """Leave a finished run as its end should, whoever trained it; False if it is not finished.

        A process that was killed may have left its checkpoint; other code may make equal inputs.
        """
        if not self.is_finished():
            return False
        finished.note(self.folder / finished.KEPT, self.made)
        self.discard_checkpoint()
        return True

    def discard_checkpoint(self) -> None:
        """Remove what a finished run has no more use for: a secure run's secret lies in it."""
        files.remove(self.folder / CHECKPOINT)


def planned(described: dict[str, Any], results: Path) -> Job:
    """Return the job of a run as the workflow describes it, with its tuned values, if any."""
    settings = tuned.filled(described["settings"], results / "tunings")
    data, assignment = Path(described["data"]), Path(described["assignment"])
    calibration = Path(described["calibration"]) if "calibration" in described else None
    inputs = Inputs(data, assignment, calibration, described["sources"])
    made = described.get("made", {}) | {"settings": finished.digest(settings)}
    return Job(described["run"], settings, inputs, results, made)
