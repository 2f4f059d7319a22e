"""Draw one figure of one study as PNG and PDF; equal numbers give equal bytes."""

import argparse
from pathlib import Path

from dpfl import cli, plugins
from dpfl.plots import _save
from dpfl.tables import results


def main() -> None:
    """Write STEM.png and STEM.pdf."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="JSON of the study, or @file of it")
    parser.add_argument("--figure", required=True, help="a file of dpfl/plots, such as accuracy")
    parser.add_argument("--runs", type=Path, default=Path("results/runs"))
    parser.add_argument("--output", required=True, help="path without its ending")
    arguments = parser.parse_args()

    study = results.study_of(arguments.study)
    figure = plugins.load("plots", arguments.figure).draw(study, arguments.runs)
    _save.save(figure, arguments.output)


if __name__ == "__main__":
    cli.main(main)
