"""Collect the runs of one study into its tables: cells, comparisons and, for rates, ranges."""

import argparse
from pathlib import Path

from dpfl import cli, files
from dpfl.tables import comparisons, ranges, rendering, results, study_table


def main() -> None:
    """Write {study}, {study}_comparisons and {study}_ranges as csv, md and tex.

    Without claims or a baseline the comparisons, and without a grid of rates the ranges, have
    only their header.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="JSON file of the study")
    parser.add_argument("--runs", type=Path, default=Path("results/runs"))
    parser.add_argument("--output-dir", type=Path, default=Path("results/tables"))
    arguments = parser.parse_args()

    study = files.read_json(arguments.study)
    runs = results.frame(study, arguments.runs)
    compared = comparisons.comparisons(study, runs)
    stem = arguments.output_dir / study["name"]
    rendering.write(stem, study_table.cells(study, runs, compared), rendering.CELLS)
    unit = results.unit_of(study)
    rendering.write(Path(f"{stem}_comparisons"), compared, rendering.COMPARISONS, unit)
    rates = ranges.ranges(study, runs) if study["kind"] == "rates" else ranges.NONE
    rendering.write(Path(f"{stem}_ranges"), rates, rendering.RANGES, unit)


if __name__ == "__main__":
    cli.main(main)
