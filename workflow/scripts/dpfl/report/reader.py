"""Reads what the workflow has written for readers: studies, their tables and figures."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.figures import families
from dpfl.plugins import analyses
from dpfl.provenance import derivations
from dpfl.report import values
from dpfl.tables import rendering, results
from dpfl.terminal.choice import Choice

NAMES = ("method", "label", "better", "worse", "algorithm", "value", "base")
"""The columns that hold names of methods, or texts with such names, or numbers."""


def named(found: pd.DataFrame) -> pd.DataFrame:
    """Return a table for readers: titles of methods in the place of their names."""
    texts = {c: [str(one) for one in found[c]] for c in NAMES if c in found}
    return found.assign(**{c: [*map(families.named, own)] for c, own in texts.items()})


@dataclass(frozen=True)
class Folder:
    """The results folder; studies and analyses are named {paper}/{study}."""

    path: Path
    chosen: Choice = field(default=Choice(), compare=False)
    """What was asked for: the next command of a demonstration asks for the same."""

    @property
    def is_kept(self) -> bool:
        """Tell whether this was laid out from kept results."""
        return any((self.path / "provenance").glob("*.json"))

    @property
    def reference(self) -> Path:
        """Return where kept results lie beside those of a run."""
        return self.path / derivations.HOME.name

    @property
    def reports(self) -> Path:
        """Return the folder of pages: links on them start there."""
        return self.path / "reports"

    def outline(self, paper: str) -> dict:
        """Return what this scale runs of a paper: names of studies, and analyses with titles."""
        return files.read_json(self.path / "papers" / f"{paper}.json")

    def judged(self, paper: str) -> pd.DataFrame:
        """Return the judged claims of a paper, a row per part."""
        return values.read(self.path / "claims" / paper / "claims.csv")

    def kept(self, paper: str) -> dict[str, Any] | None:
        """Return what kept results of a paper came from; None for results that are not kept."""
        path = self.path / "provenance" / f"{paper}.json"
        return files.read_json(path) if path.exists() else None

    def summary(self, run: str) -> dict[str, Any]:
        """Return what a run says of itself."""
        return files.read_json(self.path / "runs" / run / "summary.json")

    def study(self, name: str) -> dict:
        """Return a study as the workflow resolved it."""
        return files.read_json(self.path / "studies" / f"{name}.json")

    def cells(self, name: str) -> pd.DataFrame:
        """Return the table of a study's cells, but for those without a result.

        `variant` names in words what the study varies of a cell.
        """
        found = named(values.read(self.path_of(name)))
        finished = found[found["n"] > 0].reset_index(drop=True)
        cells = self.study(name)["cells"]  # what did not finish comes last in the table
        return finished.assign(variant=[results.variant_text(cell["variant"]) for cell in cells])

    def grid(self, name: str, kind: str) -> tuple[list[str], list[list[str]]]:
        """Return heads and lines of a table of a study beside its cells, made for reading."""
        found = named(values.read(self.path_of(name, kind)))
        return rendering.readable(found, rendering.columns_of(found, kind))

    def analysis(self, name: str) -> dict[str, tuple[list[str], list[list[str]]]]:
        """Return heads and lines of the tables of an analysis, made for reading, by suffix."""
        paper = name.split("/")[0]
        analysis = analyses.load(paper, self.outline(paper)["analyses"][name]["uses"])
        return {
            suffix: rendering.readable(files.read_table(self.path_of(name, suffix)), shown)
            for suffix, shown in analysis.shown().COLUMNS.items()
        }

    def path_of(self, name: str, suffix: str = "", ending: str = "csv") -> Path:
        """Return the place of a table of a study or an analysis."""
        stem = f"{name}_{suffix}" if suffix else name
        return self.path / "tables" / f"{stem}.{ending}"

    def figures(self, study: dict) -> list[Path]:
        """Return the pictures of a study, in its order."""
        home = self.path / "figures" / study["name"]
        return [home / f"{figure}.png" for figure in study.get("figures", [])]
