"""The table of claims: a line per judged claim of kept results, a marked one of older folders."""

from collections.abc import Iterator
from pathlib import Path

from dpfl.docs import found, judged, markdown
from dpfl.docs.judged import Folder
from dpfl.report import claims_table

MANY = 6
"""So many claims of one kind and paper have lines of their own; more of them are counted."""
MARK = (
    "\\* Kept before verdicts and provenance were recorded: the line tells what the tables say, "
    "by the rules of their time."
)


def table(home: Path, reference: Path, pages: str) -> str:
    """Return the table for a page from which the papers' pages are at the address `pages`."""
    folders = sorted(judged.folders(home, reference), key=lambda own: not own.lines)
    rows = [row for own in folders for row in _rows(own, home, reference, pages)]
    older = any(not own.recorded for own in folders)
    return markdown.table(("paper", *judged.CLAIM), rows) + f"\n\n{MARK}" * older


def _rows(own: Folder, home: Path, reference: Path, pages: str) -> Iterator[list[str]]:
    link = f"[{own.paper.short}]({pages}{own.paper.key}.md), {own.path.name}"
    if not own.lines:
        mark, verdict = ("", "none judged") if own.recorded else ("\\*", "older rules")
        short = found.short(home / own.paper.key, reference) or "told on its page"
        yield [f"{link}{mark}", own.paper.about["summary"], "", short, verdict, ""]
    for lines in _by_kind(own):
        cells = map(own.cells, lines) if len(lines) <= MANY else [_counted(lines, own)]
        yield from ([link, *cell] for cell in cells)


def _by_kind(own: Folder) -> list[list[claims_table.Line]]:
    kinds: dict[str, list[claims_table.Line]] = {}
    for line in own.lines:
        kinds.setdefault(own.kind(line), []).append(line)
    return list(kinds.values())


def _counted(lines: list[claims_table.Line], own: Folder) -> list[str]:
    """Return one line for many claims of a kind: how many of them have which verdict."""
    words = f"{len(lines)} claims of the kind `{own.kind(lines[0])}`"
    return [words, "", "", claims_table.tally(lines), ""]
