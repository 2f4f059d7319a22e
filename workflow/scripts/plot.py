"""Draw one figure of one study as PNG and PDF; equal numbers give equal bytes."""

import argparse
from pathlib import Path

from dpfl import cli, files, plugins, results

# Dates and the names of tools would change the bytes of equal figures.
FORMATS = {
    ".png": {"dpi": 160, "metadata": {"Software": None}},
    ".pdf": {"metadata": {"CreationDate": None, "Creator": None, "Producer": None}},
}


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
    for ending, keywords in FORMATS.items():
        with files.atomic(f"{arguments.output}{ending}") as path:
            figure.savefig(path, **keywords)


if __name__ == "__main__":
    cli.main(main)
