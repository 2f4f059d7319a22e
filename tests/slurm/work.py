"""The workflow through Slurm in a tree of its own, and what came of it."""

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from cluster import DIES_WITH_ITS_PARENT, Cluster, until
from worktree import Tree

PROFILE = ("--workflow-profile", "workflow/profiles/slurm")
ONE_CORE = ("--set-threads", "derive=1")  # a node of the test has no more
# What tells the time, or quotes the configuration, in which packing is a key.
NOT_COMPARED = {"logs", "benchmarks", "cache", "config.json", "claims.json", "notebooks", "reports"}
TRAINING = "rule_train"
DEADLINE_S = 3600


@dataclass
class Work:
    """A tree in which Snakemake gives its jobs to a cluster."""

    tree: Tree
    cluster: Cluster
    targets: tuple[str, ...] = ()

    def start(self, *arguments: str) -> subprocess.Popen:
        """Start Snakemake as a user on a login node does; what it prints goes to a file."""
        command = (*DIES_WITH_ITS_PARENT, sys.executable, "-m", "snakemake", *PROFILE)
        with self.printed.open("ab") as file:
            return subprocess.Popen(
                [*command, *self.targets, *ONE_CORE, "--configfile", "mini.yaml", *arguments],
                cwd=self.tree.path,
                env=self.cluster.environment,
                stdout=file,
                stderr=file,
                start_new_session=True,
            )

    def finish(self, process: subprocess.Popen) -> int:
        """Wait for Snakemake and return its exit status; it never outlives this test."""
        try:
            return process.wait(DEADLINE_S)
        finally:
            self.kill(process)

    @staticmethod
    def kill(process: subprocess.Popen) -> None:
        """Kill a Snakemake that is still there, with its local jobs."""
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def run(self, *arguments: str) -> int:
        """Run Snakemake to its end; return its exit status."""
        return self.finish(self.start(*arguments))

    @property
    def printed(self) -> Path:
        """Where Snakemake's words are."""
        return self.tree.path / "printed.txt"

    def last_words(self) -> str:
        """Return the end of what Snakemake printed."""
        return self.printed.read_text(encoding="utf-8")[-3000:]

    def trainings(self, state: str) -> list[str]:
        """Return the training jobs in a state."""
        rows = self.cluster.command("squeue", "--noheader", f"--states={state}", "--format=%i %k")
        return [row.split()[0] for row in rows.splitlines() if TRAINING in row]

    def training(self) -> str:
        """Wait until a job trains, some rounds are done and others are not; return the job."""
        until(lambda: self.trainings("RUNNING") and self._in_the_middle(), "a run is in the middle")
        return self.trainings("RUNNING")[0]

    def _in_the_middle(self) -> bool:
        return any(self.tree.results.glob("runs/*/checkpoint/manifest.json"))

    def bits(self) -> dict[str, str]:
        """Return the digest of every result, by path."""
        results = self.tree.results
        files = [path.relative_to(results) for path in results.rglob("*") if path.is_file()]
        return {
            str(f): sha256((results / f).read_bytes()).hexdigest() for f in filter(_kept, files)
        }


@dataclass(frozen=True)
class Spent:
    """What a workflow cost: in all, in Slurm's jobs, and in training itself."""

    seconds: float
    jobs: int
    training_jobs: int
    in_training_jobs: float
    runs: int
    training: float

    @property
    def beside_training(self) -> float:
        """Seconds of a training job that are not training, per run."""
        return (self.in_training_jobs - self.training) / self.runs


def measured(work: Work) -> Spent:
    """Run all through Slurm; RuntimeError with the last words of a Snakemake that fails."""
    before, began = set(work.cluster.jobs("all")), time.monotonic()
    if work.run() != 0:
        raise RuntimeError(work.last_words())
    seconds = time.monotonic() - began
    rows = work.cluster.command("squeue", "--noheader", "--states=all", "--format=%i %M %k")
    new = [row.split() for row in rows.splitlines() if row.split()[0] not in before]
    training = [_seconds(elapsed) for _, elapsed, rule in new if TRAINING in rule]
    benchmarks = list(work.tree.results.glob("benchmarks/train/*.tsv"))
    trained = sum(float(f.read_text().splitlines()[1].split("\t")[0]) for f in benchmarks)
    return Spent(seconds, len(new), len(training), sum(training), len(benchmarks), trained)


def _kept(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return not hidden and path.parts[0] not in NOT_COMPARED


def _seconds(elapsed: str) -> int:
    """Return the seconds of an elapsed time as squeue prints it, [days-][hours:]minutes:seconds."""
    numbers = map(int, reversed(re.findall(r"\d+", elapsed)))
    return sum(n * unit for n, unit in zip(numbers, (1, 60, 3600, 86400), strict=False))
