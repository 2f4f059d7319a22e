"""The board of claims on the first page: a row per claim, a column per data set."""

from collections.abc import Iterable
from typing import Any

from dpfl.base import yaml_file
from dpfl.figures import families
from dpfl.papers import citation
from dpfl.plugins import ROOT
from dpfl.report import answers, claims_table
from dpfl.report.claims_table import Line
from dpfl.report.judged import TITLES, Source
from dpfl.report.paper import Paper
from dpfl.seeds import verdicts
from dpfl.tables import results
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import NOT_RUN


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


def of_sources(sources: list[Source]) -> dict[str, Any]:
    """Return what answers first, columns, rows by paper, filters, and how the software is cited.

    A run that judges nothing adds only claims of which nothing is kept; one not run has no row.
    """
    kept = claims_table.lines(source for source in sources if source.kept)
    run = claims_table.lines(source for source in sources if not source.kept)
    if not any(map(answers.is_decided, run)):
        told = {line.identity for line in kept}
        run = [line for line in run if line.identity not in told]
    ran = [line for line in kept + run if line.verdict != NOT_RUN]
    cells: dict[tuple[str, str], list[Line]] = {}
    for line in ran:
        column = line.record["data"] if line.source.kept or not kept else TITLES["run"]
        cells.setdefault((line.record["id"], column), []).append(line)
    read = {source.of.key: source.of for source in sources}
    papers = [_paper(of, sources, kept + run) for of in read.values()]
    verdict, privacy = ({getattr(line, name) for line in ran} for name in ("verdict", "privacy"))
    cff = yaml_file.read(ROOT.parents[2] / "CITATION.cff", "CITATION.cff")
    return {
        "answers": answers.table(kept, read.values()),
        "columns": [*dict.fromkeys(column for _, column in cells)],
        "cells": cells,
        "papers": sorted(papers, key=lambda paper: -len(paper["rows"])),
        "filters": {
            "paper": {line.source.of.key: line.source.of.short for line in ran},
            "verdict": {word: word for word in sorted({own.verdict for own in verdict})},
            "privacy": {word: word for word in verdicts.PRIVACY if word in privacy},
        },
        "cite": citation.full({"title": f"{cff['title']}, {cff['version']}", "citation": cff}),
    }


def _paper(of: Paper, sources: list[Source], lines: list[Line]) -> dict[str, Any]:
    """Return a paper with its pages by scale, its rows, and how many claims were not run."""
    own = [line for line in lines if line.source.of == of]
    return {
        "of": of,
        "pages": {source.scale: source.page for source in sources if source.of == of},
        "rows": {line.record["id"]: line.short for line in own if line.verdict != NOT_RUN},
        "not_run": len({line.identity for line in own if line.verdict == NOT_RUN}),
    }
