"""Judged claims where they lie: kept ones in results/reference, and those of this run."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

from dpfl.base import files
from dpfl.provenance import kept
from dpfl.report import chips, values
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder


@dataclass(frozen=True)
class Source:
    """The judged claims of one paper at one scale, a row per part; kept, or of this run."""

    paper: str
    scale: str
    kept: bool
    claims: pd.DataFrame
    studies: Path
    reports: str = ""
    """From the first page to the folder of the paper's page, with a slash at its end."""

    @property
    def title(self) -> str:
        """Return what these claims are of, such as `Kept results, scale mnist`."""
        return f"{'Kept results' if self.kept else 'This run'}, scale {self.scale}"

    @property
    def page(self) -> str:
        """Return the address of the paper's page, from the first page."""
        return f"{self.reports}{self.paper}.html"

    def margin(self, study: str) -> float:
        """Return the margin of a study, points; 0 for a study that this scale does not run."""
        return _margin(self.studies / f"{study}.json")

    def place(self, claim: str) -> str:
        """Return the name of the place on the paper's page that tells a claim."""
        return f"kept-{self.scale}-{claim}" if self.kept else f"claim-{claim}"


def of_run(folder: Folder, papers: Mapping[str, Paper]) -> list[Source]:
    """Return the claims of a results folder, a source per paper; UserError without its tables.

    A folder laid out from kept results holds kept claims.
    """
    told = values.read(folder.path / "tables" / "claims.csv")
    return [_of_paper(folder, own, told[told["paper"] == key]) for key, own in papers.items()]


def of_page(folder: Folder, paper: Paper) -> Source:
    """Return the claims of one paper of a results folder."""
    return _of_paper(folder, paper, folder.judged(paper.key))


def of_reference(reference: Path, papers: Mapping[str, Paper], reports: str = "") -> list[Source]:
    """Return the kept claims of some papers.

    `reports` is where the page of a paper lies, {scale} in it stands for the folder's scale.
    """
    order = list(papers)
    found = [path for path in kept.folders(reference) if path.parent.name in papers]
    found.sort(key=lambda path: order.index(path.parent.name))
    return [_kept(path, papers[path.parent.name], reports) for path in found]


def table(folder: Path) -> pd.DataFrame:
    """Read the judged claims of a kept folder."""
    return values.read(folder / "claims" / "claims.csv")


def _kept(path: Path, paper: Paper, reports: str) -> Source:
    claims = chips.with_units(table(path), path / "tables")
    page = reports.format(scale=path.name)
    return Source(paper.key, path.name, True, claims, path / "studies", page)


def _of_paper(folder: Folder, paper: Paper, claims: pd.DataFrame) -> Source:
    key = paper.key
    claims = chips.with_units(claims, folder.path / "tables" / key)
    scale = folder.outline(key)["scale"]
    return Source(key, scale, bool(folder.kept(key)), claims, folder.path / "studies" / key)


@cache
def _margin(path: Path) -> float:
    return float(files.read_json(path)["margin"]) if path.is_file() else 0.0
