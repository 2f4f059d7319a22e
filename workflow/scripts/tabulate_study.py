"""Collect the runs of one study into its tables and figures: equal numbers give equal bytes.

`--study` is its JSON file, `--results` the folder of all results.
"""

from pathlib import Path

from dpfl import plugins
from dpfl.base import cli, files, options
from dpfl.tables import of_study


def main() -> None:
    """Write RESULTS/tables/{study}*, and RESULTS/figures/{study}/{figure}.* of each figure."""
    args = options.read(__doc__, study=Path, results=Path("results"))
    study, runs = files.read_json(args.study), args.results / "runs"
    of_study.write(study, args.results)
    for name in study.get("figures", []):
        figure = plugins.load("figures/kinds", name)
        figure.draw(study, runs).save(args.results / "figures" / study["name"] / name)
        if plugins.constant("figures/kinds", name, "TABLE", False):
            figure.tabulate(study, runs, args.results / "tables" / f"{study['name']}_{name}")


if __name__ == "__main__":
    cli.main(main)
