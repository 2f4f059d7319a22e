"""What goes wrong on a cluster: each fault breaks something while the workflow trains."""

import os
import signal
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass

from cluster import until
from work import Work

TOO_LITTLE_MB = "150"


@dataclass(frozen=True)
class Outcome:
    """What came of a fault: exit status of the command and of its repetition, and the bits."""

    fault: str
    happened: str
    status: int
    repeated: int
    same: bool
    seconds: float

    @property
    def good(self) -> bool:
        """Whether a plain repetition was enough."""
        return self.same and self.repeated == 0


def cancelled(work: Work, snakemake: subprocess.Popen) -> str:
    """`scancel` of a training job"""
    job = work.training()
    work.cluster.command("scancel", job)
    return "CANCELLED, submitted again"


def power_cut(work: Work, snakemake: subprocess.Popen) -> str:
    """a node dies, its slurmd and jobs with it"""
    job = work.training()
    node = work.cluster.details(job)["NodeList"]
    work.cluster.cut_power(node)
    nowhere = ("", "(null)", node)
    until(lambda: work.cluster.details(job)["NodeList"] not in nowhere, "the job has moved")
    moved = work.cluster.details(job)["NodeList"]
    work.cluster.start_node(node)
    return f"queued again by Slurm, moved from {node} to {moved}"


def main_killed(work: Work, snakemake: subprocess.Popen) -> str:
    """`kill -9` of the main Snakemake"""
    work.training()
    os.killpg(snakemake.pid, signal.SIGKILL)
    snakemake.wait()
    jobs = len(work.cluster.jobs("RUNNING"))
    return f"{jobs} jobs went on; repeated at once after `--unlock`"


def over_time(work: Work, snakemake: subprocess.Popen) -> str:
    """a training job hangs until its time limit"""
    job = work.training()
    work.cluster.command("scancel", "--signal=STOP", job)
    limit = work.cluster.details(job)["TimeLimit"]
    work.cluster.command("scontrol", "update", f"JobId={job}", "EndTime=now+1second")
    until(lambda: _state(work, job) == "TIMEOUT", "the job is out of time")
    return f"TIMEOUT; asked for {limit}, then for {_at_the_retry(work, job, 'TimeLimit')}"


def over_memory(work: Work, snakemake: subprocess.Popen) -> str:
    """a training job exceeds its memory"""
    work.cluster.command("scontrol", "update", "PartitionName=main", "State=DOWN")
    until(lambda: work.trainings("PENDING"), "a training job waits")
    job = work.trainings("PENDING")[0]
    asked = work.cluster.details(job)["MinMemoryNode"]
    work.cluster.command("scontrol", "update", f"JobId={job}", f"MinMemoryNode={TOO_LITTLE_MB}")
    work.cluster.command("scontrol", "update", "PartitionName=main", "State=UP")
    until(lambda: _state(work, job) in ("FAILED", "OUT_OF_MEMORY"), "it is killed")
    again = _at_the_retry(work, job, "MinMemoryNode")
    return f"{_state(work, job)}; asked for {asked}, then for {again}"


FAULTS: tuple[Callable[[Work, subprocess.Popen], str], ...] = (
    cancelled,
    power_cut,
    main_killed,
    over_time,
    over_memory,
)


def tried(fault: Callable, work: Work, expected: dict[str, str]) -> Outcome:
    """Start the workflow, break something, let it end, and repeat the command."""
    began = time.monotonic()
    snakemake = work.start()
    try:
        happened = fault(work, snakemake)
        status = work.finish(snakemake)
    except TimeoutError as error:
        raise RuntimeError(f"{fault.__doc__}: {error}\n{work.last_words()}") from error
    finally:
        work.kill(snakemake)
    if status < 0:
        work.run("--unlock")
    repeated = work.run()
    same = work.bits() == expected
    seconds = time.monotonic() - began
    return Outcome(fault.__doc__, happened, status, repeated, same, seconds)


def _state(work: Work, job: str) -> str:
    return work.cluster.details(job)["JobState"]


def _at_the_retry(work: Work, job: str, what: str) -> str:
    """Return what a job's successor asks for, once it is submitted."""
    comment = work.cluster.details(job)["Comment"]

    def successors() -> list[str]:
        found = [j for state in ("PENDING", "RUNNING") for j in work.trainings(state)]
        return [j for j in found if work.cluster.details(j)["Comment"] == comment and j != job]

    until(successors, "the job is submitted again")
    return work.cluster.details(successors()[0])[what]
