"""Measures private steps and federated rounds against peers, on one core, in ten to twenty minutes.

Every contender runs in a process of its own, so that its peak memory can be told; in it, its
steps take turns with steps of the channels-last non-private reference, so that ratios are paired.
"""

import argparse
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.base.files import write_text

ONE_CORE = dict.fromkeys(
    ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TORCHINDUCTOR_COMPILE_THREADS"), "1"
)
NETWORKS = {"mnist-cnn": "mnist", "cifar10-cnn": "cifar10"}
BATCHES = (64, 256, 1024)
PEERS = ("non-private", "ours", "Opacus hooks", "Opacus ghost", "Opacus functorch", "vmap(grad)")
# Measured at one batch size only: what compiles for half a minute at each, and the allocator.
COMPILED, ONE_BATCH = "vmap(grad) compiled", (256,)
# Gradients taken apart, and how many steps are timed at once: every tenth may make a new basis.
SPLIT = {"fsdp-central": 1, "fsdp-certified": 10, "fsdp-central, naive": 1}
SPLIT_BATCH = (250,)
DEFAULT_MALLOC = ("non-private", "ours", "Opacus hooks")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/bench"), help="folder")
    parser.add_argument("--worker", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def work(job: dict) -> None:
    """Measure one job in this process; one JSON line for each row."""
    from dpfl.bench import rounds, steps  # two CPU seconds that the parent need not pay

    for row in {"rounds": rounds, "steps": steps}[job.pop("table")].measure(**job):
        print(json.dumps(row), flush=True)


def measured(label: str, **job) -> list[dict]:
    """Return the rows of a job, measured in a new process on one core."""
    print(f"measuring {label}", file=sys.stderr, flush=True)
    result = subprocess.run(
        [sys.executable, __file__, "--worker", json.dumps(job)],
        env=os.environ | ONE_CORE,
        capture_output=True,
        text=True,
    )
    if result.returncode:
        reason = (result.stderr.splitlines() or [f"exit status {result.returncode}"])[-1]
        raise UserError(f"measuring {label} failed: {reason}")
    return [json.loads(line) for line in result.stdout.splitlines()]


def steps() -> list[dict]:
    """Return a row for every network, contender and batch size, and for the default malloc."""
    cells = [(name, BATCHES, True) for name in PEERS]
    cells += [(COMPILED, ONE_BATCH, True), *((name, ONE_BATCH, False) for name in DEFAULT_MALLOC)]
    rows = []
    for model, dataset in NETWORKS.items():
        for name, batches, kept in cells:
            label = name if kept else f"{name}, default malloc"
            problem = {"dataset": dataset, "model": model, "batches": batches}
            found = measured(
                f"{label}, {model}", table="steps", contender=name, kept=kept, **problem
            )
            rows += [{"model": model, "contender": label, **row} for row in found]
    return rows


def splits() -> list[dict]:
    """Return a row for every network and mechanism that takes gradients apart, beside DP-SGD."""
    rows = []
    for model, dataset in NETWORKS.items():
        for name, each in SPLIT.items():
            job = {"contender": name, "dataset": dataset, "model": model, "kept": True}
            timed = {"batches": SPLIT_BATCH, "reference": "ours", "each": each}
            found = measured(f"{name}, {model}", table="steps", **job, **timed)
            rows += [{"model": model, "contender": name, **row} for row in found]
    return rows


def side_by_side(rows: list[dict]) -> list[dict]:
    """Put the batch sizes of a contender into one row: ratio to the reference (ms), peak MB."""
    table: dict[tuple, dict] = {}
    for row in rows:
        key = row["model"], row["contender"]
        line = table.setdefault(key, {"model": key[0], "contender": key[1]})
        memory = "" if row["peak_mb"] is None else f", {row['peak_mb']:.0f} MB"
        line[f"batch {row['batch']}"] = f"{row['ratio']:.2f} ({row['cpu_ms']:.1f} ms{memory})"
    return list(table.values())


def as_csv(rows: list[dict]) -> str:
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows({key: short(value) for key, value in row.items()} for row in rows)
    return text.getvalue()


def as_markdown(rows: list[dict]) -> str:
    columns = list(rows[0])
    cells = [[str(short(row.get(column, ""))) for column in columns] for row in rows]
    return "".join(
        f"| {' | '.join(line)} |\n" for line in (columns, ["---"] * len(columns), *cells)
    )


def short(value: object) -> object:
    return f"{value:.4g}" if isinstance(value, float) else value


def save(folder: Path, name: str, rows: list[dict], shown: list[dict], note: str) -> None:
    write_text(folder / f"{name}.csv", as_csv(rows))
    text = f"{note}\n\n{as_markdown(shown)}"
    write_text(folder / f"{name}.md", text)
    print(text, flush=True)


def main() -> None:
    args = arguments()
    if args.worker:
        work(args.worker)
        return
    rows = steps()
    note = (
        "One training step: CPU time as a multiple of the channels-last non-private step "
        "(milliseconds, peak memory above the warm process).\nFreed memory stays in the process, "
        "as in training, for all contenders alike but those marked `default malloc`."
    )
    save(args.output, "steps", rows, side_by_side(rows), note)
    rows = splits()
    note = (
        "One step that takes gradients apart, at rank 50: CPU time as a multiple of the DP-SGD "
        "step (milliseconds, peak memory above the warm process)."
    )
    save(args.output, "splits", rows, side_by_side(rows), note)
    rows = measured("federated rounds", table="rounds")
    note = "Federated rounds of 10 of 100 clients with 600 examples, batch 32, MNIST CNN, one core."
    save(args.output, "rounds", rows, rows, note)


if __name__ == "__main__":
    cli.main(main)
