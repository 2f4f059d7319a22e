"""Draw one figure of one study, with its numbers and words, or write its table.

`--study` is the JSON file of the study, `--figure` a file of dpfl/figures/kinds, `--output` a
path without its ending: of .png, .pdf, .csv (the numbers) and .txt (the words); with `--table`,
for figures that have a TABLE, of .csv, .md and .tex. Equal numbers give equal bytes.
"""

from pathlib import Path

from dpfl import plugins
from dpfl.base import cli, files, options


def main() -> None:
    """Write the files."""
    wanted = {"study": Path, "figure": str, "runs": Path("results/runs"), "output": Path}
    args = options.read(__doc__, **wanted, table=False)
    study, plot = files.read_json(args.study), plugins.load("figures/kinds", args.figure)
    if args.table:
        plot.tabulate(study, args.runs, args.output)
    else:
        plot.draw(study, args.runs).save(args.output)


if __name__ == "__main__":
    cli.main(main)
