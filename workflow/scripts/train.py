"""Trains runs, each in a process of its own; a killed one continues, a finished one is kept."""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.runs import finished, sources
from dpfl.training import job, memory, pack

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs",
        required=True,
        type=json.loads,
        help="JSON list: run, settings, sources, data, assignment, and calibration if any",
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of all of them")
    parser.add_argument("--at-once", type=int, default=1, help="runs that train at a time")
    parser.add_argument("--show", action="store_true", help="show the files; fail with a run")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of results")
    return parser.parse_args()


def main() -> None:
    memory.keep_freed_memory()
    args = arguments()
    # Read by libraries when they are imported; a run's bits depend on the number of its threads.
    os.environ |= dict.fromkeys(THREADS, str(max(1, args.threads // args.at_once)))
    _require_planned(args.runs)
    jobs = [job.of(run, args.results) for run in args.runs]
    failed = pack.train(jobs, args.at_once)
    if not args.show:
        pack.stamp(jobs, failed)
        return
    for trained in jobs:
        if trained.run in failed:
            sys.exit(1)
        finished.show(trained.folder)


def _require_planned(runs: list[dict[str, Any]]) -> None:
    """Raise a UserError where files have changed since: a result would name other code than its."""
    for run in runs:
        if sources.of_run(run["settings"]) != run["sources"]:
            name = run["run"]
            raise UserError(f"{name}: the training code has changed since it was planned; repeat")


if __name__ == "__main__":
    cli.main(main)
