"""Names what a stage of tuning tries next, or the values it chooses, from its finished trials."""

import argparse
import json
from pathlib import Path

from dpfl import plugins, tuning
from dpfl.base import cli
from dpfl.base.files import read_json, write_json, write_sum
from dpfl.runs import tuned


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", required=True, type=json.loads, help="rule and trials, JSON")
    parser.add_argument("--runs", required=True, type=Path, help="folder of the runs")
    parser.add_argument("--output", required=True, type=Path, help="in the folder of all stages")
    args = parser.parse_args()
    asked = args.tuning
    trials = [_told(trial, args.runs, args.output.parent) for trial in asked["trials"]]
    tried = tuning.points((trial["values"], trial["accuracies"]) for trial in trials)
    rule = plugins.load("tuning", asked["uses"])
    if asked["stage"] is None:
        values = [tried[rule.choose(tried)].values]
    else:
        stage = tuning.stages(asked["uses"], asked["over"])[asked["stage"]]
        values = rule.propose(tried, stage)
    write_json(args.output, {"uses": asked["uses"], "values": values, "trials": trials})
    write_sum(args.output)
    told = ", ".join(f"{key} {value:g}" for slot in values for key, value in slot.items())
    word = "chooses" if asked["stage"] is None else "tries"
    print(f"{args.output.stem}: {asked['uses']} {word} {told} after {len(trials)} trials")


def _told(trial: dict, runs: Path, stages: Path) -> dict:
    """Return the values of a trial, which an earlier stage may have named, and its accuracies."""
    summaries = [read_json(runs / run / "summary.json") for run in trial["runs"]]
    return {
        "values": trial["values"] if "values" in trial else _named(trial["slot"], stages),
        "runs": trial["runs"],
        "seeds": [summary["seed"] for summary in summaries],
        "accuracies": [summary["final_validation_accuracy"] for summary in summaries],
    }


def _named(slot: list, stages: Path) -> tuning.Values:
    stage, number = slot
    return tuned.values(stages / f"{stage}.json", number)


if __name__ == "__main__":
    cli.main(main)
