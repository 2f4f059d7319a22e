"""Trains runs, each in a process of its own; a killed one continues, a finished one is kept.

Or shows the files of one, where Snakemake sees them, if it did not fail.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from dpfl.base import cli, files
from dpfl.base.errors import UserError
from dpfl.runs import finished, sources
from dpfl.training import job, memory, pack

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument(
        "--runs",
        type=json.loads,
        help="JSON list: run, settings, sources, data, assignment, calibration and made if any",
    )
    what.add_argument("--show", metavar="RUN", help="a run that was trained")
    parser.add_argument("--failed", type=Path, help="JSON file: why runs failed, written or read")
    parser.add_argument("--threads", type=int, default=1, help="threads of all of them")
    parser.add_argument("--at-once", type=int, default=1, help="runs that train at a time")
    parser.add_argument("--results", type=Path, default=Path("results"), help="folder of results")
    return parser.parse_args()


def main() -> None:
    """Train, or show."""
    args = arguments()
    if args.show:
        _show(args)
    else:
        _train(args)


def _train(args: argparse.Namespace) -> None:
    """Train all runs; of several, those that fail do so alone, where they are shown."""
    memory.keep_freed_memory()
    # Read by libraries when they are imported; a run's bits depend on the number of its threads.
    os.environ |= dict.fromkeys(THREADS, str(max(1, args.threads // args.at_once)))
    _require_planned(args.runs)
    failed = pack.train([job.of(run, args.results) for run in args.runs], args.at_once)
    if args.failed:
        files.write_json(args.failed, failed)
        if failed and len(args.runs) == 1:  # a scheduler may try again, with more memory and time
            sys.exit(1)


def _show(args: argparse.Namespace) -> None:
    why = files.read_json(args.failed).get(args.show)
    if why:
        log = args.results / "logs" / "train" / f"{args.show}.log"
        raise UserError(f"{args.show}: {why} (see {log})")
    finished.show(args.results / "runs" / args.show)


def _require_planned(runs: list[dict[str, Any]]) -> None:
    """Raise a UserError where files have changed since: a result would name other code than its."""
    for run in runs:
        if sources.of_run(run["settings"]) != run["sources"]:
            name = run["run"]
            raise UserError(f"{name}: the training code has changed since it was planned; repeat")


if __name__ == "__main__":
    cli.main(main)
