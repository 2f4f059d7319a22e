"""Compute one analysis that trains nothing: its tables (csv, md, tex), figure (png, pdf, txt).

`--name` is paper/analysis, the name of its files; `--analysis` a file of the paper's or of
dpfl/analyses; `--settings` JSON; `--dataset` the name of a file in dpfl/data, if it reads one,
and `--data` the same data set, prepared.
"""

import json
from pathlib import Path

from dpfl.base import cli, options
from dpfl.figures import of_analysis


def main() -> None:
    """Write its tables below RESULTS/tables, its figure below RESULTS/figures."""
    wanted = {"name": str, "analysis": str, "settings": json.loads, "dataset": "", "data": Path()}
    args = options.read(__doc__, **wanted, results=Path("results"))
    given = [args.dataset, args.data] if args.dataset else []
    of_analysis.write(args.name, args.analysis, args.settings, args.results, *given)


if __name__ == "__main__":
    cli.main(main)
