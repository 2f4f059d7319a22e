"""The table of claims: a line per judged claim of kept results, a marked one of older folders."""

from collections.abc import Iterator
from pathlib import Path

from dpfl.docs import found, judged, markdown
from dpfl.docs.judged import Claim, Folder
from dpfl.report import claims_table

MANY = 6
"""So many claims of one kind and paper have lines of their own; more of them are counted."""
MARK = (
    "\\* Kept before verdicts and provenance were recorded: the line tells what the tables say, "
    "by the rules of their time."
)


def table(home: Path, reference: Path, pages: str) -> str:
    """Return the table for a page from which the papers' pages are at the address `pages`."""
    folders = sorted(judged.folders(home, reference), key=lambda own: not own.claims)
    rows = [row for own in folders for row in _rows(own, home, reference, pages)]
    older = any(not own.recorded for own in folders)
    return markdown.table(("paper", *judged.CLAIM), rows) + f"\n\n{MARK}" * older


def _rows(own: Folder, home: Path, reference: Path, pages: str) -> Iterator[list[str]]:
    link = f"[{own.paper.short}]({pages}{own.paper.key}.md), {own.path.name}"
    if not own.claims:
        mark, verdict = ("", "none judged") if own.recorded else ("\\*", "older rules")
        short = found.short(home / own.paper.key, reference) or "told on its page"
        yield [f"{link}{mark}", own.paper.about["summary"], "", short, verdict, ""]
    for kind, claims in _by_kind(own.claims).items():
        many = len(claims) > MANY
        cells = [_counted(kind, claims)] if many else [claim.cells for claim in claims]
        yield from ([link, *cell] for cell in cells)


def _by_kind(claims: list[Claim]) -> dict[str, list[Claim]]:
    kinds: dict[str, list[Claim]] = {}
    for claim in claims:
        kinds.setdefault(claim.about["kind"], []).append(claim)
    return kinds


def _counted(kind: str, claims: list[Claim]) -> list[str]:
    """Return one line for many claims of a kind: how many of them have which verdict."""
    verdicts = claims_table.tally(claims)
    return [f"{len(claims)} claims of the kind `{kind}`", "", "", verdicts, ""]
