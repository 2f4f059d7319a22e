"""The judged claims of kept folders, as lines of a table in Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpfl.docs import markdown
from dpfl.judging import withdrawn
from dpfl.papers import folder
from dpfl.provenance import kept
from dpfl.report import claims_table, deciding, paper, units, values
from dpfl.report.paper import Paper
from dpfl.words.numerals import known
from dpfl.words.vocabulary import UNJUDGED

PRINTED = "printed"
CLAIM = ("claim", PRINTED, "found", "verdict", "ε claimed / certified / audited")
PART = ("compared", "found", "verdict", "ε claimed / certified / audited")
SAME = ("about", "printed", "ours", "difference", "verdict")
"""Columns that are equal where two claims have one and the same finding."""


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.yaml, `about`, with its rows: the claim as a whole, then its parts."""

    about: dict[str, Any]
    rows: list[dict[str, Any]]
    withdrawn: str = ""
    """Why its verdict is withdrawn, if it is."""

    @property
    def verdict(self) -> str:
        """Return the verdict on the claim as a whole."""
        return self.rows[0]["verdict"]

    @property
    def told(self) -> tuple[str, ...]:
        """Return all that is found, part by part: the same where a scale repeats another's."""
        own = (str(row[column]) for row in self.rows for column in SAME)
        return (self.about["id"], *own)

    @property
    def cells(self) -> list[str]:
        """Return the cells of the claim, under CLAIM: what is found of the part that decides."""
        whole, *parts = self.rows
        words = self.about.get("short") or paper.saying(self.about)
        if self.withdrawn:
            return [words, "", self.withdrawn, self.verdict, claims_table.epsilons(whole)]
        part = deciding.of(whole, parts)
        told, printed = _found(part, parts), claims_table.span(self.rows, "printed")
        found = told if printed else f"{deciding.spelled(part['about'])}: {told}"
        return [words, printed, found, self.verdict, claims_table.epsilons(whole)]

    @property
    def parts(self) -> str:
        """Return the table of what the claim is made of, nothing where it is one comparison."""
        return markdown.table(PART, map(_part, self.rows[1:])) if len(self.rows) > 2 else ""


@dataclass(frozen=True)
class Folder:
    """A kept folder {paper}/{scale}; `claims` are those that it has given a verdict."""

    path: Path
    paper: Paper
    claims: list[Claim]

    @property
    def findings(self) -> list[Claim]:
        """Return of claims with one and the same finding the first."""
        found: dict[tuple, Claim] = {}
        for claim in self.claims:
            found.setdefault(tuple(str(claim.rows[0][column]) for column in SAME), claim)
        return list(found.values())


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table, without what was printed where nothing was."""
    rows = [dict(zip(heads, row, strict=True)) for row in rows]
    shown = [head for head in heads if head != PRINTED or any(row[head] for row in rows)]
    return markdown.table(shown, [[row[head] for head in shown] for row in rows])


def folders(home: Path, reference: Path) -> Iterator[Folder]:
    """Yield the kept folders of the papers in `home`, those of a paper as its scales stand."""
    for key in sorted({path.parent.name for path in kept.folders(reference)}):
        yield from of_paper(home, reference, key)


def of_paper(home: Path, reference: Path, key: str) -> Iterator[Folder]:
    """Yield the kept folders of one paper as its scales stand."""
    own = paper.read(home / key)
    paths = [path for path in kept.folders(reference) if path.parent.name == key]
    for path in sorted(paths, key=lambda path: _place(home, path)):
        yield Folder(path, own, list(_claims(path, own, kept.about(path)["commit"])))


def _place(home: Path, path: Path) -> tuple[str, int, str]:
    """Return what kept folders are sorted by; scales that are no longer there stand last."""
    key, scale = path.parts[-2:]
    studies = home / key / folder.STUDIES
    scales = list(folder.read(studies).get("scales", {})) if studies.exists() else []
    return key, scales.index(scale) if scale in scales else len(scales), scale


def _claims(path: Path, own: Paper, commit: str) -> Iterator[Claim]:
    """Yield the claims that a folder has given a verdict."""
    table = values.read(path / "claims" / "claims.csv")
    table = withdrawn.from_table(table, own.claims.values(), commit)
    table = units.of_claims(table, path / "tables")
    found = claims_table.by_claim(table)
    for name, about in own.claims.items():
        rows = found.get(name, [])
        if rows and rows[0]["verdict"] not in UNJUDGED:
            yield Claim(about, rows, withdrawn.reason(about, commit))


def _part(row: dict[str, Any]) -> list[str]:
    about = deciding.spelled(row["about"])
    return [about, _found(row), row["verdict"], claims_table.epsilons(row)]


def _found(row: dict[str, Any], parts: Iterable[dict[str, Any]] = ()) -> str:
    """Return a difference with n, or what was found, and what stands beside what is printed."""
    difference, n = claims_table.difference(row), claims_table.seeds(row)
    none_left = "no seed has both" if known(row["n"]) and not row["n"] else ""
    counted = " ".join(filter(None, (difference or none_left, f"({n})" if n else "")))
    ours = claims_table.ours(row) or claims_table.span(parts, "ours")
    beside = str(row["compared"]) if known(row["compared"]) else ""
    return "; ".join(filter(None, (counted if difference else ours or counted, beside)))
