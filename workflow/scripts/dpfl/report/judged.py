"""Judged claims where they lie: kept ones in results/derived, and those of this run."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.provenance import derivations
from dpfl.report import values
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

TITLES = {"kept": "Stored results", "run": "This run"}


@dataclass(frozen=True)
class Source:
    """The judged claims of one paper at one scale, a row per part; kept, or of this run."""

    of: Paper
    scale: str
    kept: bool
    claims: pd.DataFrame
    studies: Path
    figures: Path
    reports: str = ""
    """From the first page to the folder of the paper's page, with a slash at its end."""

    @property
    def title(self) -> str:
        """Return what these claims are of, such as `Stored results, scale mnist`."""
        return f"{TITLES['kept' if self.kept else 'run']}, scale {self.scale}"

    @property
    def page(self) -> str:
        """Return the address of the paper's page, from the first page."""
        return f"{self.reports}{self.of.key}.html"

    def study(self, name: str) -> dict[str, Any]:
        """Return a study, another paper's as `paper/study`; {} where this scale does not run it."""
        path = self.studies / f"{name}.json"
        other, _, own = name.rpartition("/")
        alike = (other if part == self.of.key else part for part in self.studies.parts)
        return _study(Path(*alike, f"{own}.json") if other else path)

    def place(self, claim: str) -> str:
        """Return the name of the place on the paper's page that tells a claim."""
        return f"kept-{self.scale}-{claim}" if self.kept else f"claim-{claim}"


def of_run(results: Folder, papers: Iterable[Paper]) -> list[Source]:
    """Return the claims of papers in a results folder, kept ones first; UserError without a table.

    A folder laid out from kept results holds kept claims, and those alone are returned.
    """
    own = []
    for of in papers:
        claims, scale = results.judged(of.key), results.outline(of.key)["scale"]
        places = (results.path / part / of.key for part in ("studies", "figures"))
        own.append(Source(of, scale, results.is_kept, claims, *places))
    return own if results.is_kept else [*of_reference(results.reference, papers), *own]


def of_reference(reference: Path, papers: Iterable[Paper], reports: str = "") -> list[Source]:
    """Return the kept claims of some papers, scales in the order that each paper gives them.

    `reports` is where the page of a paper lies, {scale} in it stands for the folder's scale.
    """
    folders = {(path.parent.name, path.name): path for path in derivations.folders(reference)}
    kept_scales = dict.fromkeys(scale for _, scale in folders)
    return [
        _kept(of, folders[of.key, scale], reports)
        for of in papers
        for scale in dict.fromkeys([*of.scales, *kept_scales])
        if (of.key, scale) in folders
    ]


def _kept(of: Paper, path: Path, reports: str) -> Source:
    claims = values.read(path / "claims" / "claims.csv")
    parts = path / "studies", path / "figures"
    return Source(of, path.name, True, claims, *parts, reports.format(scale=path.name))


@cache
def _study(path: Path) -> dict[str, Any]:
    return files.read_json(path) if path.is_file() else {}
