"""Retrains kept runs as they were planned, and compares what comes out with what was kept."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from dpfl import plugins
from dpfl.base import files, machine
from dpfl.base.errors import UserError
from dpfl.provenance import sample
from dpfl.provenance.runs import Finished
from dpfl.runs import finished, sources

TOLERANCE = 0.5
"""Points of test accuracy that rounding may move a run elsewhere, or with other versions."""
EQUAL, WITHIN = "equal bits", f"within {TOLERANCE:g} points"
DIFFERS, FAILED = "differs", "failed"
Entry = dict[str, Any]


def of_folders(folders: Iterable[Path], minutes: float) -> list[Entry]:
    """Return runs of the samples of kept folders, in turn, of at most so many minutes together.

    By the estimate, on one core. A run that several folders have is trained once.
    """
    samples = [files.read_json(folder / sample.FILE) for folder in folders]
    left, found, paid = 60 * minutes, [], set()
    for entry in filter(None, chain.from_iterable(zip_longest(*samples))):
        cost = 0 if entry["run"] in paid else entry["estimate"]
        if cost <= left:
            left -= cost
            paid.add(entry["run"])
            found.append(entry)
    return found


def left_out(folders: Iterable[Path], entries: list[Entry]) -> list[str]:
    """Return the folders, {paper}/{scale}, of whose samples nothing is among some entries."""
    runs = {entry["run"] for entry in entries}
    return [
        "/".join(folder.parts[-2:])
        for folder in folders
        if not any(own["run"] in runs for own in files.read_json(folder / sample.FILE))
    ]


@dataclass(frozen=True)
class Retraining:
    """The runs of a sample trained again in a folder of their own, from the data up."""

    home: Path
    results: Path
    data_dir: Path
    cores: int
    _prepared: set[str] = field(default_factory=set)
    """The data sets that were prepared here, by this call."""

    def train(self, entries: list[Entry]) -> None:
        """Train all runs again; UserError for a step before training that fails."""
        for part in ("runs", "partitions", "calibrations", "logs", "failures", "benchmarks"):
            files.remove(self.home / part)
        runs = {entry["run"]: entry for entry in entries}
        described = [self._described(entry) for entry in runs.values()]
        at_once = max(1, min(self.cores, len(runs)))
        self._driver(
            "train",
            *("--runs", json.dumps(described), "--results", self.home),
            *("--threads", at_once, "--at-once", at_once),
        )
        for run in runs:
            with suppress(OSError):  # of a run that failed there is nothing to show
                finished.show(self.home / "runs" / run)

    def found(self, entry: Entry) -> Finished:
        """Return a run that was trained again."""
        return Finished(entry["run"], self.home)

    def _described(self, entry: Entry) -> Entry:
        """Make what a run reads; return the run as its training is told of it."""
        settings, run = entry["settings"], entry["run"]
        data = self._data(settings["dataset"], entry["inputs"]["data"])
        place = self.home / "partitions" / run
        planned = entry["partition"]
        self._driver(
            "partition",
            *("--dataset", planned["dataset"], "--data", data, "--seed", planned["seed"]),
            *("--settings", json.dumps(planned["settings"])),
            *("--min-examples", planned["min_examples"]),
            *("--assignment", place / "assignment.npy"),
            *("--summary", place / "clients.csv", "--picture", place / "labels.png"),
        )
        described = {"run": run, "settings": settings, "sources": sources.of_run(settings)}
        described |= {"data": str(data), "assignment": str(place / "assignment.npy")}
        if entry["calibration"] is None:
            return described
        calibration = self.home / "calibrations" / f"{run}.json"
        self._driver(
            "calibrate",
            *("--partition", place / "assignment.npy", "--output", calibration),
            *("--settings", json.dumps(entry["calibration"]), "--cache", self.home / "cache"),
        )
        return described | {"calibration": str(calibration)}

    def _data(self, dataset: str, digest: str) -> Path:
        """Return the data set as it was kept, if it lies here; else one that is prepared now."""
        paths = [home / "data" / f"{dataset}.safetensors" for home in (self.results, self.home)]
        for path in paths:
            if path.exists() and files.digest(path) == digest:
                return path
        made = paths[-1]
        if dataset not in self._prepared:
            self._prepared.add(dataset)
            self._driver(
                "prepare_data",
                *("--dataset", dataset, "--data-dir", self.data_dir, "--output", made),
            )
        return made

    def _driver(self, name: str, *arguments: Any) -> None:
        command = [sys.executable, plugins.ROOT.parent / f"{name}.py", *arguments]
        done = subprocess.run(
            list(map(str, command)), env=os.environ, capture_output=True, text=True
        )
        if done.returncode:
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise UserError(f"{name}.py: {last.removeprefix('error: ')}")


def compared(entry: Entry, run: Finished) -> dict[str, Any]:
    """Return a kept run beside itself trained again, with a verdict.

    Equal bits are asked for on equal hardware, with equal versions and code.
    """
    kept = {"run": entry["run"], "kept": entry["final_test_accuracy"]}
    try:
        summary, digests = run.summary, run.digests
    except OSError:
        return kept | {"now": None, "verdict": FAILED, "asked": EQUAL}
    other = list(_changed(entry, summary))
    asked = f"{WITHIN}: other {', '.join(other)}" if other else EQUAL
    now = summary["final_test_accuracy"]
    if all(digests.get(name) == digest for name, digest in entry["files"].items()):
        verdict = EQUAL
    else:
        close = abs(_points(now) - _points(kept["kept"])) <= TOLERANCE
        verdict = WITHIN if other and close else DIFFERS
    return kept | {"now": now, "verdict": verdict, "asked": asked}


def _changed(entry: Entry, summary: dict[str, Any]) -> Iterator[str]:
    """Yield what differs between two trainings of a run and may move their bits."""
    if machine.line(entry["hardware"]) != machine.line(summary["hardware"]):
        yield "machine"
    if entry["versions"] != summary["versions"]:
        yield "versions"
    if entry["sources"] != summary["sources"]:
        yield "code"
    read = summary["inputs"]
    yield from (name for name, digest in entry["inputs"].items() if read.get(name) != digest)


def _points(accuracy: float | None) -> float:
    return math.nan if accuracy is None else 100 * accuracy
