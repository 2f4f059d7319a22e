"""Writes a resolved part of the configuration as the JSON that later steps read."""

import argparse
from pathlib import Path

from dpfl.base import cli
from dpfl.base.errors import UserError
from dpfl.base.files import read_json, write_json
from dpfl.planning import compose, naming, outline, plan, unfinished


def main() -> None:
    """Resolve a study or a paper of a configuration."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--config", type=read_json, required=True, help="JSON: all of it")
    parser.add_argument("--name", required=True, help="paper/study, or paper")
    parser.add_argument("--digest", required=True, help="of what is resolved, as it was planned")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    found = PARTS[args.part](args)
    if naming.digest(found) != args.digest:
        raise UserError(f"{args.name}: what has finished is not what it was when this call began")
    write_json(args.output, found)


def _study(args: argparse.Namespace) -> dict:
    _, _, made = _plan(args.config, args.name.split("/")[0])
    return made.studies[args.name]


def _paper(args: argparse.Namespace) -> dict:
    return outline.of(args.name, *_plan(args.config, args.name))


def _plan(config: dict, paper: str) -> tuple[dict, plan.Plan, plan.Plan]:
    """Return the configuration of one paper by its key, and its plan: of all, and as asked for."""
    own = {paper: compose.compose(config)[paper]}
    planned = plan.make(own)
    return own, planned, unfinished.handled(planned, config["unfinished"], RESULTS)


RESULTS = Path("results")
PARTS = {"study": _study, "paper": _paper}


if __name__ == "__main__":
    cli.main(main)
