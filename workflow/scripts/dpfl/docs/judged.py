"""The judged claims of kept folders, as lines of a table in Markdown."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpfl.docs import markdown
from dpfl.provenance import kept
from dpfl.report import claims_table, paper, values
from dpfl.report.paper import Paper
from dpfl.tables.numerals import known

CLAIM = ("claim", "printed", "found", "verdict", "ε claimed / certified / audited")
PART = ("compared", "found", "verdict", "ε claimed / certified / audited")
SAME = ("about", "printed", "ours", "difference", "verdict")
"""Columns that are equal where two claims have one and the same finding."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.yaml, `about`, with its rows: the claim as a whole, then its parts."""

    about: dict[str, Any]
    rows: list[dict[str, Any]]

    @property
    def verdict(self) -> str:
        """Return the verdict on the claim as a whole."""
        return self.rows[0]["verdict"]

    @property
    def cells(self) -> list[str]:
        """Return the cells of the claim, under CLAIM: what is found of the part that says least."""
        whole, words = self.rows[0], self.about.get("short") or paper.saying(self.about)
        told = _found(whole, self.rows[1:])
        found = f"{self._least}: {told}" if self._least else told
        printed = claims_table.span(self.rows, "printed")
        return [words, printed, found, self.verdict, claims_table.epsilons(whole)]

    @property
    def parts(self) -> str:
        """Return the table of what the claim is made of, nothing where it is one comparison."""
        return markdown.table(PART, map(_part, self.rows[1:])) if len(self.rows) > 2 else ""

    @property
    def _least(self) -> str:
        """Return what is compared in the part that the claim's difference is of, if any."""
        own = claims_table.difference(self.rows[0])
        found = [row["about"] for row in self.rows[1:] if claims_table.difference(row) == own]
        return min(found, key=len, default="") if own else ""


@dataclass(frozen=True)
class Folder:
    """A kept folder {paper}/{scale}; `recorded` if it says what it came from.

    `claims` are those that it has given a verdict.
    """

    path: Path
    paper: Paper
    recorded: bool
    claims: list[Claim]

    @property
    def findings(self) -> list[Claim]:
        """Return of claims with one and the same finding the first."""
        found: dict[tuple, Claim] = {}
        for claim in self.claims:
            found.setdefault(tuple(str(claim.rows[0][column]) for column in SAME), claim)
        return list(found.values())


def folders(home: Path, reference: Path) -> Iterator[Folder]:
    """Yield the kept folders of the papers in `home`."""
    for path in kept.folders(reference):
        own = paper.read(home / path.parent.name)
        recorded = kept.about(path) is not None
        yield Folder(path, own, recorded, list(_claims(path, own)) if recorded else [])


def _claims(path: Path, own: Paper) -> Iterator[Claim]:
    """Yield the claims that a folder has given a verdict."""
    table = values.read(path / "claims" / "claims.csv")
    for name, about in own.claims.items():
        rows = claims_table.parts(table, name)
        if rows and rows[0]["verdict"] not in (claims_table.NOT_JUDGED, *claims_table.LAST):
            yield Claim(about, rows)


def _part(row: dict[str, Any]) -> list[str]:
    return [row["about"], _found(row), row["verdict"], claims_table.epsilons(row)]


def _found(row: dict[str, Any], parts: Iterable[dict[str, Any]] = ()) -> str:
    """Return a difference with n, or what was found, and what stands beside what is printed."""
    difference = claims_table.difference(row)
    ours = claims_table.ours(row) or claims_table.span(parts, "ours")
    n = ours[ours.rfind("(") :] if "(" in ours else f"({ours})" * bool(ours)
    found = f"{difference} {n}".strip() if difference else ours
    beside = row["compared"] if known(row["compared"]) else ""
    return "; ".join(filter(None, (found, str(beside))))
