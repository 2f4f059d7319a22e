"""All tables of one study, from its finished runs."""

from pathlib import Path

from dpfl.tables import comparisons, ranges, rendering, results, study_table, trials


def write(study: results.Study, home: Path) -> None:
    """Write {study} and its _comparisons, _ranges, _tuned and _trials as csv, md and tex.

    Below `home`/tables, from `home`/runs and what has chosen values. Without a baseline the
    comparisons have only their header, without a grid of rates the ranges. The last two have only
    theirs where nothing is tuned.
    """
    runs = trials.of_runs(study, home)
    cells = study_table.cells(study, runs)
    tuned = trials.tuned(study, cells, home)
    tables = {
        "cells": trials.marked(cells, tuned),
        "comparisons": comparisons.comparisons(study, runs),
        "ranges": ranges.ranges(study, runs),
        "tuned": tuned,
        "trials": trials.trials(study, home),
    }
    for kind, table in tables.items():
        stem = study["name"] if kind == "cells" else f"{study['name']}_{kind}"
        rendering.write(home / "tables" / stem, table, rendering.columns_of(table, kind))
