"""All tables of one study, from its finished runs."""

from pathlib import Path

from dpfl.tables import columns_shown, comparisons, ranges, rendering, results, study_table, trials


def write(study: results.Study, home: Path) -> None:
    """Write {study} and its _comparisons, _ranges, _tuned and _trials as csv, md and tex.

    Below `home`/tables, from `home`/runs and what has chosen values. Without a baseline the
    comparisons, without a grid of rates the ranges, and where nothing is tuned the last two have
    only their header.
    """
    runs = results.frame(study, home / "runs")
    compared = comparisons.comparisons(study, runs)
    cells = study_table.cells(study, runs)
    tuned = trials.tuned(study, cells, home)
    rates = ranges.ranges(study, runs) if study["kind"] == "rates" else ranges.NONE
    stem, unit = home / "tables" / study["name"], results.unit_of(study)
    rendering.write(stem, trials.marked(cells, tuned), columns_shown.CELLS)
    for suffix, table, columns in (
        ("comparisons", compared, columns_shown.COMPARISONS),
        ("ranges", rates, columns_shown.RANGES),
        ("tuned", tuned, columns_shown.TUNED),
        ("trials", trials.trials(study, home), columns_shown.TRIALS),
    ):
        rendering.write(Path(f"{stem}_{suffix}"), table, columns, unit)
