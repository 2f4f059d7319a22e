"""The judged claims of a kept folder, as lines of a table in Markdown."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpfl.docs import markdown
from dpfl.provenance import kept
from dpfl.report import claims_table, paper
from dpfl.report.claims_table import Line
from dpfl.report.paper import Paper

CLAIM = ("claim", "printed", "found", "verdict", "ε claimed / certified / audited")
PART = ("compared", "found", "verdict", "ε claimed / certified / audited")


@dataclass(frozen=True)
class Folder:
    """A kept folder {paper}/{scale}; `recorded` if it says what it came from."""

    path: Path
    paper: Paper
    recorded: bool
    lines: list[Line]

    def kind(self, line: Line) -> str:
        """Return the kind of a claim."""
        return self._claim(line).get("kind", "")

    def cells(self, line: Line) -> list[str]:
        """Return the cells of a claim, under CLAIM: what is found of the part that says least."""
        words = self._claim(line).get("short") or line.claim
        found = _found(line.difference, line.ours)
        about = self._least(line)
        told = f"{about}: {found}" if about else found
        return [words, line.printed, told, line.verdict, line.epsilons]

    def parts(self, line: Line) -> str:
        """Return the table of what a claim is made of, nothing where it is one comparison."""
        rows = self._rows(line)[1:]
        return markdown.table(PART, map(_part, rows)) if len(rows) > 1 else ""

    def _least(self, line: Line) -> str:
        """Return what is compared in the part that the claim's difference is of, if any."""
        rows = self._rows(line)[1:] if line.difference else []
        found = [row for row in rows if claims_table.difference(row) == line.difference]
        return min((row["about"] for row in found), key=len, default="")

    def _rows(self, line: Line) -> list[dict]:
        return claims_table.parts(claims_table.read(_table(self.path)), name_of(line))

    def _claim(self, line: Line) -> dict:
        return self.paper.claims.get(name_of(line), {})


def name_of(line: Line) -> str:
    """Return the id of a claim."""
    return line.anchor.removeprefix(paper.anchor(""))


def folders(home: Path, reference: Path) -> Iterator[Folder]:
    """Yield the kept folders of the papers in `home`."""
    for path in kept.folders(reference):
        own = paper.read(home / path.parent.name)
        recorded = kept.about(path) is not None
        yield Folder(path, own, recorded, _lines(path, own) if recorded else [])


def _lines(path: Path, own: Paper) -> list[Line]:
    """Return what a folder has judged; of claims with one and the same finding the first."""
    found = claims_table.lines(claims_table.read(_table(path)), {own.key: own})
    lines = [line for line in found if line.verdict not in claims_table.LAST]
    return [line for number, line in enumerate(lines) if not _told(line, lines[:number])]


def _told(line: Line, before: list[Line]) -> bool:
    """Tell whether an earlier claim has one and the same finding."""
    own = (line.about, line.printed, line.ours, line.difference, line.verdict)
    return any(
        own == (one.about, one.printed, one.ours, one.difference, one.verdict) for one in before
    )


def _table(path: Path) -> Path:
    return path / "claims" / "claims.csv"


def _part(row: dict) -> list[str]:
    found = _found(claims_table.difference(row), claims_table.ours(row))
    return [row["about"], found, row["verdict"], claims_table.epsilons(row)]


def _found(difference: str, ours: str) -> str:
    """Return a difference with its n, which stands at the end of `ours`; else `ours`."""
    n = ours[ours.rfind("(") :] if "(" in ours else f"({ours})" * bool(ours)
    return f"{difference} {n}".strip() if difference else ours
