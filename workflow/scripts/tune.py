"""Names what a stage of tuning tries next, or the values it chooses, from its finished trials."""

import argparse
import json
from pathlib import Path

from dpfl.base import cli
from dpfl.planning import choice_of_values


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tuning", required=True, type=json.loads, help="rule and trials, JSON")
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--name", required=True, help="of the stage")
    args = parser.parse_args()
    print(choice_of_values.write(args.name, args.tuning, args.results))


if __name__ == "__main__":
    cli.main(main)
