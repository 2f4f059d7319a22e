"""The board of claims on the first page: a row per claim, a column per data set."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from dpfl.base import yaml_file
from dpfl.figures import families
from dpfl.papers import citation
from dpfl.plugins import ROOT
from dpfl.report import answers, claims_table, judged
from dpfl.report.claims_table import Line
from dpfl.report.judged import TITLES, Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import verdicts
from dpfl.tables import results
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import NOT_RUN


def of_run(papers: Iterable[Paper], folder: Folder) -> dict[str, Any]:
    """Return the board of a results folder, and of kept results beside it."""
    own = [judged.of_run(folder, of) for of in papers]
    kept = [] if folder.is_kept else judged.of_reference(folder.reference, papers)
    return _board([*kept, *own])


def of_kept(papers: Iterable[Paper], reference: Path, reports: str) -> dict[str, Any]:
    """Return the board of all kept results, whose pages lie in `reports`, with {scale} in it."""
    return _board(judged.of_reference(reference, papers, reports))


def unfinished(outlines: Iterable[dict[str, Any]]) -> list[str]:
    """Say of every study of some papers which cells are left out, and why; nothing if none is."""
    studies = [study for outline in outlines for study in outline.get("unfinished", {}).values()]
    runs = {run for study in studies for cell in study["cells"] for run in cell["runs"]}
    head = f"{counted(len(runs), 'run')} did not finish. What needs them is left out or open."
    lines = [
        f"{study['title']}: {families.named(results.named(cell))}, seed "
        f"{', '.join(map(str, cell['seeds']))}: {cell['message']} (`{cell['log']}`)"
        for study in studies
        for cell in study["cells"]
    ]
    return [head, *lines] if lines else []


def _board(sources: list[Source]) -> dict[str, Any]:
    """Return columns, rows by paper, filters, and how the software is cited.

    A run that judges nothing adds only claims of which nothing is kept; one not run has no row.
    """
    kept, run = (
        claims_table.lines(source for source in sources if source.kept == kept)
        for kept in (True, False)
    )
    if not any(map(answers.is_decided, run)):
        told = {line.identity for line in kept}
        run = [line for line in run if line.identity not in told]
    ran = [line for line in kept + run if line.needs != NOT_RUN.needs]
    cells: dict[tuple[str, str], list[Line]] = {}
    for line in ran:
        column = line.record["data"] if line.kept or not kept else TITLES["run"]
        cells.setdefault((line.record["id"], column), []).append(line)
    read = {source.of.key: source.of for source in sources}
    papers = [_paper(of, sources, kept + run) for of in read.values()]
    privacy = {line.privacy for line in ran}
    return {
        "columns": [*dict.fromkeys(column for _, column in cells)],
        "cells": cells,
        "papers": sorted(papers, key=lambda paper: -len(paper["rows"])),
        "filters": {
            "paper": {line.key: line.paper for line in ran},
            "verdict": {verdict: verdict for verdict in sorted({line.verdict for line in ran})},
            "privacy": {verdict: verdict for verdict in verdicts.PRIVACY if verdict in privacy},
        },
        "cite": _cited(),
    }


def _paper(of: Paper, sources: list[Source], lines: list[Line]) -> dict[str, Any]:
    """Return a paper with its pages by scale, its rows, and how many claims have none."""
    rows, left = {}, {}
    for line in lines:
        if line.key == of.key and line.needs == NOT_RUN.needs:
            left[line.identity] = line
        elif line.key == of.key:
            rows.setdefault(line.record["id"], line.short)
    return {
        "of": of,
        "pages": {source.scale: source.page for source in sources if source.of == of},
        "rows": rows,
        "left": ", ".join(_left(len(left), len(of.not_judged))),
    }


def _left(not_run: int, not_judged: int) -> Iterator[str]:
    """Yield how many claims of a paper have no row, and why."""
    if not_run:
        yield f"{counted(not_run, 'claim')} not run"
    if not_judged:
        yield f"{not_judged} cannot be judged"


def _cited() -> str:
    """Return how this software is cited."""
    about = yaml_file.read(ROOT.parents[2] / "CITATION.cff", "CITATION.cff")
    return citation.full({"title": f"{about['title']}, {about['version']}", "citation": about})
