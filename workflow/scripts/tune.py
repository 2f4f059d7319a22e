"""Chooses a method's rate from the finished trials of its grid (dpfl.tuning)."""

import argparse
import json
from pathlib import Path

from dpfl import cli, tuning
from dpfl.files import read_json, write_json, write_sum


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", required=True, type=json.loads, help="trials, JSON")
    parser.add_argument("--runs", required=True, type=Path, help="folder of the runs")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    trials = []
    for trial in args.tuning["trials"]:
        summaries = [read_json(args.runs / run / "summary.json") for run in trial["runs"]]
        accuracies = [s["final_validation_accuracy"] for s in summaries]
        mean = sum(accuracies) / len(accuracies)
        trials.append({"rate": trial["rate"], "validation_accuracy": mean, "n": len(accuracies)})
    rates, accuracies = ([t[key] for t in trials] for key in ("rate", "validation_accuracy"))
    chosen = rates[tuning.best(rates, accuracies)]
    write_json(args.output, {"rate": chosen, "trials": trials})
    write_sum(args.output)
    print(f"{args.output.stem}: rate {chosen:g}, the best of {len(trials)}")


if __name__ == "__main__":
    cli.main(main)
