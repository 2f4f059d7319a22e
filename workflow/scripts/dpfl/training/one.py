"""Trains one run to its end and keeps its files; needs torch, unlike what only asks about runs."""

import csv
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from dpfl.base.files import atomic
from dpfl.runs import finished
from dpfl.training import run, summary
from dpfl.training.job import Job

COLUMNS = ("s", "cpu_time", "max_rss", "ended")


def train(job: Job, report: Callable[[str], None]) -> None:
    """Train, or continue, a run, unless its files are kept; `report` gets one line a round.

    Waits while another process trains it: one whose Snakemake was killed goes on to its end.
    """
    job.folder.mkdir(parents=True, exist_ok=True)
    with alone(job.folder / ".lock", report):
        if job.settle():
            return
        began = time.perf_counter()
        result = run.train(job.settings, job.inputs, job.folder, report)
        finished.keep(
            job.folder,
            job.fingerprint,
            job.inputs.sources,
            lambda folder: summary.write(job.run, job.settings, job.inputs, result, folder),
            job.made,
        )
        job.discard_checkpoint()
        _write_benchmark(job, time.perf_counter() - began)


@contextmanager
def alone(path: Path, report: Callable[[str], None]) -> Iterator[None]:
    """Hold the lock of a run, which ends with the process that holds it."""
    lock = FileLock(path)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        report("another process trains this run: waiting")
        lock.acquire()
    try:
        yield
    finally:
        path.unlink(missing_ok=True)  # whoever waits for the removed file locks a new one
        lock.release()


def _write_benchmark(job: Job, seconds: float) -> None:
    """Write what training cost this process, which trains nothing else, and when it ended."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu, most = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    ended = datetime.now(UTC).isoformat(timespec="seconds")
    row = (f"{seconds:.4f}", f"{cpu:.2f}", f"{most:.2f}", ended)
    with atomic(job.benchmark) as temporary, temporary.open("w", encoding="utf-8") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([COLUMNS, row])
