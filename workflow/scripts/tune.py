"""Name what a stage of tuning tries next, or the values it chooses, from its finished trials.

`--name` is the stage, `--tuning` JSON: its rule and its trials.
"""

import json
from pathlib import Path

from dpfl.base import cli, options
from dpfl.tuning.parts import choice_of_values


def main() -> None:
    """Write what is tried or chosen; print it in a line."""
    args = options.read(__doc__, name=str, tuning=json.loads, results=Path("results"))
    print(choice_of_values.write(args.name, args.tuning, args.results))


if __name__ == "__main__":
    cli.main(main)
