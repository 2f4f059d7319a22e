"""Trains one run: resolved settings in, results/runs/{run} out; continues a killed run."""

import argparse
import json
import sys
from pathlib import Path

from dpfl import cli
from dpfl.files import read_json
from dpfl.training import memory, run, summary
from dpfl.training.inputs import Inputs


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--run", required=True, help="name of the run")
    parser.add_argument(
        "--settings", required=True, type=json.loads, help="resolved settings, JSON"
    )
    parser.add_argument("--data", required=True, type=Path, help="arrays of the data set")
    parser.add_argument("--assignment", required=True, type=Path, help="client of every example")
    parser.add_argument("--calibration", nargs="?", type=Path, help="noise; none: not private")
    parser.add_argument("--tuned", nargs="?", type=Path, help="the tuned rate")
    parser.add_argument("--output", required=True, type=Path, help="folder of the run")
    return parser.parse_args()


def progress(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    memory.keep_freed_memory()
    args = arguments()
    settings = args.settings
    if args.tuned:
        settings["optimizer"]["rate"] = read_json(args.tuned)["rate"]
    inputs = Inputs(args.data, args.assignment, args.calibration)
    result = run.train(settings, inputs, args.output, progress)
    summary.write(args.run, settings, inputs, result, args.output)
    run.discard_checkpoint(args.output)


if __name__ == "__main__":
    cli.main(main)
