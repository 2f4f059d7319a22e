"""One run as a job: what it reads, and the files that say how it went."""

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dpfl.base.files import remove
from dpfl.runs import finished, tuned
from dpfl.training.inputs import Inputs

CHECKPOINT = "checkpoint"
"""The folder, in that of a run, which it continues from."""


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
        remove(self.folder / CHECKPOINT)


def of(described: dict[str, Any], results: Path) -> Job:
    """Return the job of a run as the workflow describes it, with its tuned values, if any."""
    settings = tuned.filled(described["settings"], results / "tunings")
    data, assignment = Path(described["data"]), Path(described["assignment"])
    calibration = Path(described["calibration"]) if "calibration" in described else None
    inputs = Inputs(data, assignment, calibration, described["sources"])
    made = described.get("made", {}) | {"settings": finished.digest(settings)}
    return Job(described["run"], settings, inputs, results, made)
