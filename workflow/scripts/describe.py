"""Writes a resolved part of the configuration as the JSON that later steps read."""

import argparse
import json
from pathlib import Path

from dpfl import cli
from dpfl.files import write_json


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--content", required=True, type=json.loads, help="JSON")
    parser.add_argument("--output", required=True, type=Path)
    args = parser.parse_args()
    write_json(args.output, args.content)


if __name__ == "__main__":
    cli.main(main)
