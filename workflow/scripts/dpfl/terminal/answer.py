"""The answer in a few lines: which claims of every paper hold, by verdict."""

import csv
import textwrap
from collections.abc import Iterator
from pathlib import Path

from dpfl.words.vocabulary import UNJUDGED

WIDTH = 100


def of(table: Path) -> list[str]:
    """Return the lines of a table of claims; none if it does not exist."""
    if not table.exists():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        overall = [row for row in csv.DictReader(file) if row["part"] == "overall"]
    papers = dict.fromkeys(row["paper"] for row in overall)
    return [
        line
        for paper in papers
        for line in _paper(paper, [r for r in overall if r["paper"] == paper])
    ]


def _paper(paper: str, rows: list[dict[str, str]]) -> Iterator[str]:
    """Tell one paper: counts, then the judged claims under their verdicts."""
    verdicts: dict[str, list[str]] = {}
    for row in rows:
        verdicts.setdefault(row["verdict"], []).append(row["claim"])
    judged = {verdict: ids for verdict, ids in verdicts.items() if verdict not in UNJUDGED}
    counts = [f"{sum(map(len, judged.values()))} of {len(rows)} claims judged"]
    counts += [f"{len(verdicts[v])} {v}" for v in UNJUDGED if v in verdicts]
    yield f"{paper}: {', '.join(counts)}"
    for verdict, ids in judged.items():
        yield from textwrap.wrap(
            f"{verdict}: {', '.join(ids)}", WIDTH, initial_indent="  ", subsequent_indent="    "
        )
