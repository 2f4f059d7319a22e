"""Compute one analysis that trains nothing: its tables (csv, md, tex), figure (png, pdf, txt)."""

import argparse
import inspect
import json
from pathlib import Path
from types import ModuleType

import pandas as pd

from dpfl.base import cli
from dpfl.figures import saving
from dpfl.plugins import analyses
from dpfl.tables import rendering


def main() -> None:
    """Write TABLES/{name}.*, TABLES/{name}_{suffix}.* and FIGURES/{name}/{analysis}.*."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="paper/analysis, the name of its files")
    parser.add_argument(
        "--analysis", required=True, help="a file of the paper's or of dpfl/analyses"
    )
    parser.add_argument("--settings", type=json.loads, required=True, help="JSON")
    parser.add_argument("--dataset", help="the name of a file in dpfl/data, if it reads one")
    parser.add_argument("--data", type=Path, help="the same data set, prepared")
    parser.add_argument("--tables", type=Path, default=Path("results/tables"))
    parser.add_argument("--figures", type=Path, default=Path("results/figures"))
    arguments = parser.parse_args()

    analysis = analyses.load(arguments.name.split("/")[0], arguments.analysis)
    given = [arguments.dataset, arguments.data] if arguments.dataset else []
    analysis.check(arguments.settings, *given[:1])
    found, columns = analysis.tables(arguments.settings, *given), analysis.columns()
    for suffix in analysis.TABLES:
        stem = f"{arguments.name}_{suffix}" if suffix else arguments.name
        rendering.write(arguments.tables / stem, found[suffix], columns[suffix])
    stem = arguments.figures / arguments.name / arguments.analysis
    saving.save(analysis.draw(found), stem, _words(analysis, found))


def _words(analysis: ModuleType, found: dict[str, pd.DataFrame]) -> str:
    """Return what the figure shows, by its numbers if the analysis tells them."""
    told = analysis.words(found) if hasattr(analysis, "words") else inspect.getdoc(analysis)
    return " ".join((told or "").split()) + "\n"


if __name__ == "__main__":
    cli.main(main)
