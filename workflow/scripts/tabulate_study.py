"""Collect the runs of one study into its tables: cells, comparisons and, for rates, ranges.

`--study` is its JSON file, `--results` the folder of all results.
"""

from pathlib import Path

from dpfl.base import cli, files, options
from dpfl.tables import of_study


def main() -> None:
    """Write them below RESULTS/tables."""
    args = options.read(__doc__, study=Path, results=Path("results"))
    of_study.write(files.read_json(args.study), args.results)


if __name__ == "__main__":
    cli.main(main)
