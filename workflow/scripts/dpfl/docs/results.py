"""docs/results.md and the table of README.md: a line per judged claim of kept results."""

import os
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from dpfl.docs import markdown
from dpfl.papers import folder
from dpfl.report import chips, claims_table, judged, paper, prose
from dpfl.report.claims_table import Line
from dpfl.report.paper import Paper
from dpfl.words.vocabulary import UNJUDGED

HEADS = ("paper", "scale", "claim", "printed", "ours", "verdict", "ε claimed / certified / audited")
PAGE = """# Results

A line for every claim that kept results have judged; {so_far}

How verdicts come about: [verdict rules](reference/verdicts.md). Brackets hold the interval that
decides, n counts seeds. The three ε are those of the budget with the worst verdict on privacy:
[what an audit adds](privacy.md#what-an-audit-adds). On the site that `make docs` builds, a scale
leads to the page of its paper, with every study, figure and assumption.

## In short

{short}

## Claims

{table}
"""
KEPT = "reference"
"""The folder of kept runs, beside what is derived of them."""


def page(home: Path, reference: Path, place: Path) -> str:
    """Return the page of all results, with links for a page that lies in the folder `place`."""
    papers = _papers(home)
    lines = _lines(home, papers, reference)
    rows = [_linked(line, reference, place) for line in lines]
    answers = prose.kept_answers(papers, home, reference)
    short = [f"- {_link(home / key, place)}: {own}" for key, own in answers.items() if own]
    table = markdown.table(HEADS, rows)
    so_far = _so_far(papers.values(), lines)
    return PAGE.format(so_far=so_far, short="\n".join(short), table=table)


def short(home: Path, reference: Path, results: str) -> str:
    """Return the first line of every paper and kind of claim, and how many more there are.

    `results` is the address of the page that has them all.
    """
    rows = []
    papers = _papers(home)
    lines = _lines(home, papers, reference)
    for _, own in groupby(lines, key=lambda line: line.key):
        found, kinds = list(own), {}
        for line in found:
            kinds.setdefault(line.kind, line)
        rows += [_cells(line) for line in kinds.values()]
        if rest := [line for line in found if line not in kinds.values()]:
            verdicts = claims_table.tally(line.verdict for line in rest)
            more = f"[{len(rest)} more]({results}#claims)"
            rows.append([found[0].paper, "", more, "", "", verdicts, ""])
    return f"{markdown.table(HEADS, rows)}\n\n{_so_far(papers.values(), lines)}"


def _papers(home: Path) -> dict[str, Paper]:
    """Return all papers, publications before texts without a year."""
    found = paper.read_all(folder.names(home), home)
    return dict(sorted(found.items(), key=lambda pair: not pair[1].dated))


def _lines(home: Path, papers: dict[str, Paper], reference: Path) -> list[Line]:
    """Return the judged claims of kept results, those of a paper as its scales stand."""
    places = {key: [*_scales(home / key)] for key in papers}

    def place(line: Line) -> tuple[int, int]:
        own = [*places[line.key], line.scale]  # one that is no longer there stands last
        return list(places).index(line.key), own.index(line.scale)

    found = claims_table.lines(judged.of_reference(reference, papers), papers)
    return sorted((line for line in found if line.verdict not in UNJUDGED), key=place)


def _scales(home: Path) -> Iterable[str]:
    path = home / folder.STUDIES
    return folder.read(path).get("scales", {}) if path.exists() else ()


def _so_far(papers: Iterable[Paper], lines: Iterable[Line]) -> str:
    """Say how many of the claims of all papers are judged, decided, and could be judged."""
    lines = [line for shown in lines for line in claims_table.each([shown])]
    entered = [claim for own in papers for claim in own.claims.values()]
    told = {line.identity for line in lines}
    decided = {line.identity for line in lines if line.verdict in claims_table.TONES}
    kinds = sum("kind" in claim for claim in entered)
    return (
        f"{len(told)} of {len(entered)} claims entered have been run and judged so far, "
        f"{len(decided)} of them with an answer. {kinds} can be judged, the others are listed in "
        "the report with the reason."
    )


def _linked(line: Line, reference: Path, place: Path) -> list[str]:
    """Return the cells of a claim, its scale a link to what is kept."""
    runs = reference.with_name(KEPT) / line.key / line.scale
    kept = Path(os.path.relpath(runs, place)).as_posix()
    name, scale, *rest = _cells(line)
    return [name, f"[{scale}]({kept})", *rest]


def _cells(line: Line) -> list[str]:
    """Return the cells of a claim under HEADS; claims with one and the same finding are one."""
    claims = "; ".join(one.short for one in claims_table.each([line]))
    difference = f"{line.part}: {line.difference} ({line.n})" if line.n else line.difference
    found = line.ours or difference
    return [
        line.paper,
        line.scale,
        claims,
        line.printed,
        found,
        line.verdict,
        chips.text(line.chips),
    ]


def _link(home: Path, place: Path) -> str:
    """Return the name of a paper, which leads to its text."""
    text = Path(os.path.relpath(home / folder.PAGE, place)).as_posix()
    return f"[{paper.read(home).short}]({text})"
