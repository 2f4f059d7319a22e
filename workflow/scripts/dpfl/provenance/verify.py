"""Trains a sample of kept runs again, through Snakemake, and compares what comes out.

In a working folder of its own: results and Snakemake's records of this one stay as they are.
"""

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import yaml

from dpfl import plugins
from dpfl.base import files, machine
from dpfl.base.errors import UserError
from dpfl.planning import estimate, packs
from dpfl.planning.plan import Plan
from dpfl.runs import kept_runs
from dpfl.terminal.choice import Choice
from dpfl.tuning.parts import choice_of_values, stages

MINUTES = 15.0
"""The most that a sample takes on one core, by what its runs took."""
TOLERANCE = 0.5
"""Points of test accuracy that rounding may move a run elsewhere, or with other versions."""
EQUAL, WITHIN = "equal bits", f"within {TOLERANCE:g} points"
DIFFERS, FAILED = "differs", "failed"
COMPARED = ("metrics.csv", "rates.csv", "model.safetensors")
"""The files of a run that hold its bits."""
LINKED = ("workflow", "notebooks", "envs", "profiles", "config.yaml")
ALONE = {"minutes": 0, "cores": 1}
"""A job for every run, partition and calibration: a sample needs few of them."""
RULES = ("prepare_data", "train_pack", "train")
"""What trains a run, beside partitions and noise: what trials chose is laid out, none trains."""
Row = kept_runs.Row


def cost(row: Row) -> float:
    """Return the seconds that a kept run took, or is estimated to take."""
    return row["seconds"] or estimate.seconds(row["settings"])


def sample(folder: Path) -> list[Row]:
    """Return the shortest run of each kind that a kept folder has, the shortest first.

    Runs of a secret that nobody keeps have no bits to find again.
    """
    first: dict[tuple, Row] = {}
    for row in sorted(kept_runs.rows(folder), key=cost):
        if row["settings"]["noise"] != "secure":
            first.setdefault(_kind(row["settings"]), row)
    return list(first.values())


def of_folders(folders: Iterable[Path], minutes: float) -> dict[Path, list[Row]]:
    """Return runs of the samples of kept folders, in turn, of so many core-minutes together."""
    samples = [[(folder, row) for row in sample(folder)] for folder in folders]
    left, found = 60 * minutes, {}
    for folder, row in filter(None, chain.from_iterable(zip_longest(*samples))):
        if cost(row) <= left:
            left -= cost(row)
            found.setdefault(folder, []).append(row)
    return found


@dataclass(frozen=True)
class Again:
    """The sample of one kept folder, trained again in a working folder."""

    folder: Path
    rows: list[Row]
    home: Path
    data_dir: Path

    def train(self, cores: int) -> None:
        """Train all runs again, from the data up; UserError if none could be trained."""
        self._lay_out()
        runs = [f"results/runs/{row['run']}/summary.json" for row in self.rows]
        plan = self._choice().plan()
        prepared = [f"partition_{n}" for n, _ in enumerate(packs.partitions(plan, ALONE), 1)]
        prepared += [f"calibrate_{n}" for n, _ in enumerate(packs.calibrations(plan, ALONE), 1)]
        command = [
            *(
                sys.executable,
                "-m",
                "snakemake",
                "--snakefile",
                plugins.WORKFLOW.parent / "Snakefile",
            ),
            *("--cores", cores, "--keep-going", "--allowed-rules", *RULES, *prepared),
            *self._choice().arguments(),
            *("--", *runs),
        ]
        done = subprocess.run(
            list(map(str, command)), cwd=self.home, env=os.environ, capture_output=True, text=True
        )
        if done.returncode and not any((self.home / run).exists() for run in runs):
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise UserError(f"{self.folder}: {last}")

    def compared(self) -> Iterator[dict[str, Any]]:
        """Yield every kept run beside itself trained again, with a verdict."""
        for row in self.rows:
            yield compared(row, self.home / "results" / "runs" / row["run"])

    def _choice(self) -> Choice:
        """Return what was kept, as one file of configuration, a run a job."""
        about, path = kept_runs.about(self.folder), self.home.resolve() / "kept.yaml"
        single = {"pack": ALONE, "data_dir": str(self.data_dir.resolve())}
        asked = about["config"] | single | {"papers": [about["paper"]]}
        files.write_text(path, yaml.safe_dump(asked))  # JSON writes 1e-05, a text in YAML
        return Choice({}, [str(path)])

    def _lay_out(self) -> None:
        """Make the working folder: links to the workflow, no runs, and what trials have chosen."""
        results = self.home / "results"
        for part in ("runs", "packs", "tunings", "failures"):
            files.remove(results / part)
        results.mkdir(parents=True, exist_ok=True)
        for name in LINKED:
            link, there = self.home / name, plugins.WORKFLOW.parent / name
            if there.exists() and not link.is_symlink():
                link.symlink_to(there.resolve())
        plan = self._choice().plan()
        with tempfile.TemporaryDirectory(dir=results) as made:
            kept_runs.lay_out(self.folder, Path(made))
            for name in _needed(plan, [row["run"] for row in self.rows]):
                choice_of_values.write(name, plan.tunings[name], Path(made))
            if (Path(made) / "tunings").is_dir():
                (Path(made) / "tunings").rename(results / "tunings")


def _needed(plan: Plan, runs: list[str]) -> list[str]:
    """Return the stages of tuning that chose the values of some runs, the earlier ones first."""
    own = {plan.runs[run]["tuning"] for run in runs} - {None}
    before = {name for stage in own for name in stages.stages_before(plan.tunings[stage])}
    return [name for name in plan.tunings if name in own | before]


def _kind(settings: dict[str, Any]) -> tuple[str, ...]:
    return (
        settings["dataset"],
        settings["model"],
        settings["mechanism"]["estimator"],
        settings["optimizer"]["algorithm"],
        settings["clipping"]["rule"],
    )


def compared(row: Row, again: Path) -> dict[str, Any]:
    """Return a kept run beside its folder trained again, with a verdict.

    Equal bits are asked for on equal hardware, with equal versions and code.
    """
    found = {"run": row["run"], "kept": row["final_test_accuracy"]}
    try:
        summary, digests = files.read_json(again / "summary.json"), files.sums(again / files.SUMS)
    except OSError:
        return found | {"now": None, "verdict": FAILED, "asked": EQUAL}
    other = list(_changed(row, summary))
    asked = f"{WITHIN}: other {', '.join(other)}" if other else EQUAL
    now = summary["final_test_accuracy"]
    if all(digests.get(name) == row["files"][name] for name in COMPARED if name in row["files"]):
        verdict = EQUAL
    else:
        close = abs(_points(now) - _points(row["final_test_accuracy"])) <= TOLERANCE
        verdict = WITHIN if other and close else DIFFERS
    return found | {"now": now, "verdict": verdict, "asked": asked}


def _changed(row: Row, summary: dict[str, Any]) -> Iterator[str]:
    """Yield what differs between two trainings of a run and may move their bits."""
    if machine.line(row["hardware"]) != machine.line(summary["hardware"]):
        yield "machine"
    if row["versions"] != summary["versions"]:
        yield "versions"
    if row["sources"] != summary["sources"]:
        yield "code"
    read = summary["inputs"]
    yield from (n for n, digest in row.get("inputs", {}).items() if read.get(n) != digest)


def _points(accuracy: float | None) -> float:
    return math.nan if accuracy is None else 100 * accuracy
