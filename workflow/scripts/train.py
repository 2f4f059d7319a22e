"""Train runs, each in a process of its own; a killed one continues, a finished one is kept.

Or show the files of one, where Snakemake sees them, if it did not fail: `--show` names it.
`--runs` is a JSON list of run, settings, sources, data, assignment, calibration and made if any;
`--failed` the JSON file, written or read, of why runs failed; `--threads` those of all runs,
`--at-once` how many train at a time.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from dpfl.base import cli, files, options
from dpfl.base.errors import UserError
from dpfl.runs import finished, sources
from dpfl.training import job, memory, pack

THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def main() -> None:
    """Train, or show."""
    wanted = {"runs": "[]", "show": "", "failed": "", "threads": 1, "at_once": 1}
    args = options.read(__doc__, **wanted, results=Path("results"))
    if args.show:
        show(args.show, args)
    else:
        train(json.loads(args.runs), args)


def train(runs: list[dict[str, Any]], args: argparse.Namespace) -> None:
    """Train all runs; of several, those that fail do so alone, where they are shown."""
    memory.keep_freed_memory()
    # Read by libraries when they are imported; a run's bits depend on the number of its threads.
    os.environ |= dict.fromkeys(THREADS, str(max(1, args.threads // args.at_once)))
    for run in runs:
        if sources.of_run(run["settings"]) != run["sources"]:  # a result would name other code
            name = run["run"]
            raise UserError(f"{name}: the training code has changed since it was planned; repeat")
    failed = pack.train([job.planned(run, args.results) for run in runs], args.at_once)
    if args.failed:
        files.write_json(args.failed, failed)
        if failed and len(runs) == 1:  # a scheduler may try again, with more memory and time
            sys.exit(1)


def show(run: str, args: argparse.Namespace) -> None:
    """Show the files of a run; UserError if it failed."""
    if why := files.read_json(args.failed).get(run):
        log = args.results / "logs" / "train" / f"{run}.log"
        raise UserError(f"{run}: {why} (see {log})")
    finished.show(args.results / "runs" / run)


if __name__ == "__main__":
    cli.main(main)
