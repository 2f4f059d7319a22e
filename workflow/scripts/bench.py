"""Measures private steps and federated rounds against peers, on one core, in ten to twenty minutes.

Every contender runs in a process of its own, so that its peak memory can be told. There its steps
take turns with steps of the channels-last non-private reference, so that ratios are paired.
Writes steps.csv, splits.csv and rounds.csv into `--output`, and prints them as docs/performance.md
has them. With `--worker`, the JSON of a job, measures that alone.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import cli, files, options
from dpfl.base.errors import UserError
from dpfl.docs import markdown

ONE_CORE = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
NETWORKS = {"mnist-cnn": "mnist", "cifar10-cnn": "cifar10"}
OTHER_NETWORKS = {"resnet-gn": "cifar10", "small-transformer": "token-order"}
OTHERS = ("non-private", "ours", "Opacus hooks", "vmap(grad)")
PEERS = {name: {"batches": (64, 256, 1024)} for name in (*OTHERS, "Opacus ghost")}
OTHER_PEERS = {name: {"batches": (64,)} for name in OTHERS}
# Every tenth step of the certified form may make a new basis: so many are timed at once.
EACH = {"fsdp-central": 1, "fsdp-certified": 10, "fsdp-central, naive": 1}
EACH |= {"dpfl.Private, what a step compares": 100}
SPLIT = {name: {"batches": (250,), "reference": "ours", "each": n} for name, n in EACH.items()}

Job = dict[str, Any]


def main() -> None:
    """Measure one job, as a worker, or all of them."""
    args = options.read(__doc__, output=Path("results/bench"), worker="")
    if args.worker:
        work(json.loads(args.worker))
        return
    steps = (*jobs_of(PEERS), *jobs_of(OTHER_PEERS, OTHER_NETWORKS))
    wanted = {"steps": steps, "splits": jobs_of(SPLIT), "rounds": [{}]}
    shown = {"steps": markdown.of_steps, "splits": markdown.of_steps, "rounds": markdown.of_csv}
    for name, jobs in wanted.items():
        rows = [row for job in jobs for row in measured(job)]
        table = pd.DataFrame(rows).to_csv(index=False, float_format="%.4g", lineterminator="\n")
        files.write_text(args.output / f"{name}.csv", table)
        print(shown[name](args.output / f"{name}.csv"), flush=True)


def jobs_of(contenders: dict[str, Job], networks: dict[str, str] = NETWORKS) -> Iterator[Job]:
    """Yield a job for every network and contender."""
    for model, dataset in networks.items():
        for name, how in contenders.items():
            yield {"contender": name, "model": model, "dataset": dataset, **how}


def measured(job: Job) -> list[dict]:
    """Return the rows of a job, measured in a new process on one core."""
    label = f"{job['contender']}, {job['model']}" if job else "federated rounds"
    print(f"measuring {label}", file=sys.stderr, flush=True)
    command = [sys.executable, __file__, "--worker", json.dumps(job)]
    done = subprocess.run(command, env=os.environ | ONE_CORE, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.splitlines() or [f"exit status {done.returncode}"])[-1]
        raise UserError(f"measuring {label} failed: {reason}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def work(job: Job) -> None:
    """Measure one job in this process; one JSON line for each row."""
    from dpfl.bench import rounds, steps  # two CPU seconds that the parent need not pay

    found: Iterable[dict] = steps.measure(**job) if job else rounds.measure()
    for row in found:
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    cli.main(main)
