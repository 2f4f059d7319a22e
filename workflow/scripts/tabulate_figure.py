"""Write the numbers of one figure of one study as a table: CSV, Markdown and LaTeX."""

import argparse
from pathlib import Path

from dpfl import plugins
from dpfl.base import cli, files


def main() -> None:
    """Write STEM.csv, STEM.md and STEM.tex."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="JSON file of the study")
    parser.add_argument(
        "--figure", required=True, help="a file of dpfl/figures/kinds that has a TABLE"
    )
    parser.add_argument("--runs", type=Path, default=Path("results/runs"))
    parser.add_argument("--output", type=Path, required=True, help="path without its ending")
    arguments = parser.parse_args()

    study = files.read_json(arguments.study)
    plot = plugins.load("figures/kinds", arguments.figure)
    plot.tabulate(study, arguments.runs, arguments.output)


if __name__ == "__main__":
    cli.main(main)
