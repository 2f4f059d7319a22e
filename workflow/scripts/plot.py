"""Draw one figure of one study, with its numbers and words; equal numbers give equal bytes."""

import argparse
from pathlib import Path

from dpfl import plugins
from dpfl.base import cli, files
from dpfl.figures import saving


def main() -> None:
    """Write STEM.png, STEM.pdf, its numbers as STEM.csv and its words as STEM.txt."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="JSON file of the study")
    parser.add_argument(
        "--figure", required=True, help="a file of dpfl/figures/kinds, such as accuracy"
    )
    parser.add_argument("--runs", type=Path, default=Path("results/runs"))
    parser.add_argument("--output", required=True, help="path without its ending")
    arguments = parser.parse_args()

    study = files.read_json(arguments.study)
    drawn = plugins.load("figures/kinds", arguments.figure).draw(study, arguments.runs)
    saving.save_all(drawn, arguments.output)


if __name__ == "__main__":
    cli.main(main)
