"""Writes a resolved part of the configuration as the JSON that later steps read."""

import argparse
import json
from pathlib import Path

from dpfl import cli
from dpfl.files import write_json
from dpfl.planning import compose, estimate, plan, unfinished


def main() -> None:
    """Write a configuration that is given, or resolve a study or a paper of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--content", type=json.loads, required=True, help="JSON: a configuration")
    parser.add_argument("--name", help="paper/study, or paper")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    write_json(args.output, PARTS[args.part](args))


def _study(args: argparse.Namespace) -> dict:
    return _plan(args.content, args.name.split("/")[0])[0].studies[args.name]


def _paper(args: argparse.Namespace) -> dict:
    made, own = _plan(args.content, args.name)
    hours = sum(estimate.seconds(run["settings"]) for run in made.runs.values()) / 3600
    return plan.outline(made, own, args.name) | {"core_hours": float(f"{hours:.3g}")}


def _plan(config: dict, paper: str) -> tuple[plan.Plan, dict]:
    """Return the plan of one paper, and its configuration by its key."""
    own = {paper: compose.compose(config)[paper]}
    return unfinished.handled(plan.make(own), config["unfinished"], RESULTS), own


RESULTS = Path("results")
PARTS = {"config": lambda args: args.content, "study": _study, "paper": _paper}


if __name__ == "__main__":
    cli.main(main)
