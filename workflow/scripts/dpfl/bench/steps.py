"""Measures the steps of one contender: CPU time against the reference, and peak memory."""

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

import torch

from dpfl import models, plugins
from dpfl.bench.contenders import CONTENDERS, REFERENCE, Step
from dpfl.draws import streams
from dpfl.training.memory import keep_freed_memory

SECONDS = 2.0  # of timed steps per cell
LEAST, MOST = 2, 200  # timed steps per cell
WARM_BATCH = 8


def measure(
    contender: str,
    dataset: str,
    model: str,
    batches: list[int],
    reference: str = REFERENCE,
    each: int = 1,
) -> Iterator[dict]:
    """Yield one row per batch size, smallest first, measured in this process on one core.

    cpu_ms is the median process CPU time; ratio that median over the median of the reference's
    steps, taken in turns; peak_mb what a step needs above the process after a step on a tiny batch.
    Freed memory stays in the process, as in training. Steps are timed `each` at a time, so that
    what is done in every tenth alone is counted.
    """
    torch.set_num_threads(1)
    keep_freed_memory()
    build = CONTENDERS[contender]
    build(*_problem(dataset, model, WARM_BATCH))()
    warm = _memory_mb("VmRSS")
    for batch in sorted(batches):
        step = build(*_problem(dataset, model, batch))
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # resets VmHWM
        step()
        peak = _memory_mb("VmHWM") - warm
        other = CONTENDERS[reference](*_problem(dataset, model, batch))
        other()
        told = {"model": model, "contender": contender, "batch": batch}
        yield told | _pairs(step, other, each) | {"peak_mb": peak}


def _problem(dataset: str, model: str, batch: int) -> tuple:
    source = plugins.load("data", dataset)
    generator = streams.generator("bench", batch)
    inputs = torch.randn(batch, *source.SHAPE, generator=generator)
    targets = torch.randint(source.CLASSES, (batch,), generator=generator)
    return models.build(model, generator, source.SHAPE, source.CLASSES), inputs, targets


def _pairs(step: Step, reference: Step, each: int) -> dict:
    ours, theirs = [], []
    started = time.process_time()
    while len(ours) < LEAST or (len(ours) < MOST and time.process_time() - started < SECONDS):
        ours.append(cpu_seconds(step, each))
        theirs.append(cpu_seconds(reference, each))
    return {
        "steps": each * len(ours),
        "cpu_ms": 1e3 * statistics.median(ours),
        "ratio": statistics.median(ours) / statistics.median(theirs),
    }


def cpu_seconds(function: Step, calls: int = 1) -> float:
    """Return the mean CPU time of some calls in this process, all threads together."""
    started = time.process_time()
    for _ in range(calls):
        function()
    return (time.process_time() - started) / calls


def _memory_mb(field: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(field))
