"""What a stage of tuning names of its finished trials: the next values to try, or those chosen."""

from pathlib import Path
from typing import Any

from dpfl import plugins
from dpfl.base import files
from dpfl.tuning.parts import rules, tuned


def write(name: str, asked: dict[str, Any], results: Path) -> str:
    """Write results/tunings/{name}.json, of a plan's entry, with its digest; return it in a line.

    Reads the summaries of the trials, and the earlier stages that named their values.
    """
    stages = results / "tunings"
    trials = [_tried(trial, results / "runs", stages) for trial in asked["trials"]]
    tried = rules.points((trial["values"], trial["accuracies"]) for trial in trials)
    rule = plugins.load("tuning", asked["uses"])
    if asked["stage"] is None:
        values, word = [tried[rule.choose(tried)].values], "chooses"
        if not rules.learned(tried, _dataset(trials, results / "runs")):
            word = "found nothing learned at any value; what is trained is"
    else:
        stage = rules.stages(asked["uses"], asked["over"])[asked["stage"]]
        values, word = rule.propose(tried, stage), "tries"
    path = stages / f"{name}.json"
    files.write_json(path, {"uses": asked["uses"], "values": values, "trials": trials})
    files.write_sum(path)
    told = ", ".join(f"{key} {value:g}" for slot in values for key, value in slot.items())
    return f"{name}: {asked['uses']} {word} {told} after {len(trials)} trials"


def _dataset(trials: list[dict[str, Any]], runs: Path) -> str:
    summary = files.read_json(runs / trials[0]["runs"][0] / "summary.json")
    return summary["settings"]["dataset"]


def _tried(trial: dict, runs: Path, stages: Path) -> dict:
    """Return the values of a trial, which an earlier stage may have named, and its accuracies."""
    summaries = [files.read_json(runs / run / "summary.json") for run in trial["runs"]]
    return {
        "values": trial["values"] if "values" in trial else tuned.values(stages, *trial["slot"]),
        "runs": trial["runs"],
        "seeds": [summary["seed"] for summary in summaries],
        "accuracies": [summary["final_validation_accuracy"] for summary in summaries],
    }
