"""Collect the runs of one study into its tables: cells, comparisons and, for rates, ranges."""

import argparse
from pathlib import Path

from dpfl.base import cli, files
from dpfl.tables import columns_shown, comparisons, ranges, rendering, results, study_table, trials


def main() -> None:
    """Write {study} and its _comparisons, _ranges, _tuned and _trials as csv, md and tex.

    Without a baseline the comparisons, without a grid of rates the ranges, and where nothing is
    tuned the last two have only their header.
    """
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", type=Path, required=True, help="JSON file of the study")
    parser.add_argument("--results", type=Path, default=Path("results"), help="their folder")
    arguments = parser.parse_args()

    study = files.read_json(arguments.study)
    runs = results.frame(study, arguments.results / "runs")
    compared = comparisons.comparisons(study, runs)
    stem = arguments.results / "tables" / study["name"]
    cells = study_table.cells(study, runs, compared)
    tuned = trials.tuned(study, cells, arguments.results)
    rendering.write(stem, trials.marked(cells, tuned), columns_shown.CELLS)
    unit = results.unit_of(study)
    rendering.write(Path(f"{stem}_comparisons"), compared, columns_shown.COMPARISONS, unit)
    rates = ranges.ranges(study, runs) if study["kind"] == "rates" else ranges.NONE
    rendering.write(Path(f"{stem}_ranges"), rates, columns_shown.RANGES, unit)
    rendering.write(Path(f"{stem}_tuned"), tuned, columns_shown.TUNED, unit)
    tried = trials.trials(study, arguments.results)
    rendering.write(Path(f"{stem}_trials"), tried, columns_shown.TRIALS, unit)


if __name__ == "__main__":
    cli.main(main)
