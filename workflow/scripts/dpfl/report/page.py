"""What the first page shows: all claims, a line per paper, whom ε protects, and provenance."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl import files
from dpfl.papers import badges, citation
from dpfl.report import (
    claims_table,
    narrative,
    paper,
    published_table,
    study_section,
    unfinished_words,
    values,
)
from dpfl.report.forms import counted
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder


def papers(keys: Iterable[str], home: Path) -> dict[str, Paper]:
    """Read papers by their keys from the folder of all papers."""
    return {key: paper.read(home / key) for key in keys}


def context(read: Mapping[str, Paper], folder: Folder) -> dict[str, Any]:
    """Return everything the page shows."""
    judged = claims_table.read(folder.path / "tables" / "claims.csv")
    lines = claims_table.lines(judged, read)
    outlines = {key: folder.outline(key) for key in read}
    names = [name for outline in outlines.values() for name in outline["studies"]]
    studies = {name: folder.study(name) for name in names}
    cells = {name: folder.cells(name) for name in names}
    printed = values.read(folder.path / "tables" / "published.csv")
    return {
        "scale": " and ".join(dict.fromkeys(outline["scale"] for outline in outlines.values())),
        "tally": claims_table.tally(lines),
        "claims": lines,
        "unfinished": unfinished_words.of_papers(outlines.values()),
        "left": sum(claims_table.not_judged(judged, read).values()),
        "papers": [_paper(of, judged, outlines[key], studies) for key, of in read.items()],
        "privacy": narrative.notes(cells.values()),
        "beside": beside(cells, printed, read),
        "provenance": _provenance(folder, read, studies.values()),
        "records": (folder.path / "claims.json").exists(),
        "config": (folder.path / "config.json").read_text(encoding="utf-8"),
    }


def beside(
    cells: Mapping[str, pd.DataFrame], printed: pd.DataFrame, read: Mapping[str, Paper]
) -> list[str]:
    """Set the best certified mean of each study beside what other papers print at its (ε, δ)."""
    cited = {key: of.short for key, of in read.items()}
    return [
        f"{name}: {line}"
        for name, own in cells.items()
        for line in narrative.anchors(
            own, published_table.of_others(printed, name.split("/")[0], cited)
        )
    ]


def provenance(studies: Iterable[dict], runs_dir: Path) -> dict[str, Any]:
    """Return how many runs stand behind the page, and the versions and hardware they name."""
    runs = list(dict.fromkeys(r for s in studies for c in s["cells"] for r in c["runs"]))
    summaries = [files.read_json(runs_dir / run / "summary.json") for run in runs]
    return {
        "runs": len(runs),
        "versions": _distinct(summary["versions"] for summary in summaries),
        "hardware": _distinct(summary["hardware"] for summary in summaries),
    }


def _provenance(folder: Folder, read: Iterable[str], studies: Iterable[dict]) -> dict[str, Any]:
    """Return what stands behind the page: runs that lie there, or what kept results say of them."""
    kept = [about for about in map(folder.kept, read) if about]
    if not kept:
        return provenance(studies, folder.path / "runs")
    return {
        "runs": sum(about["runs"]["trained"] for about in kept),
        "versions": _distinct(about["versions"] for about in kept),
        "hardware": _distinct(
            {key: value for key, value in own.items() if key != "runs"}
            for about in kept
            for own in about["hardware"]
        ),
    }


def _paper(of: Paper, judged: pd.DataFrame, outline: dict, studies: Mapping[str, dict]) -> dict:
    """Return the line of one paper: how many of its claims hold, and what this scale runs of it."""
    own = judged[(judged["paper"] == of.key) & (judged["part"] == claims_table.OVERALL)]
    left = int((own["verdict"] == claims_table.NOT_JUDGED).sum())
    titles = {name: studies[name]["title"] for name in outline["studies"]}
    titles |= {name: about["title"] for name, about in outline["analyses"].items()}
    return {
        "key": of.key,
        "short": of.short,
        "citation": citation.full(of.about),
        "link": citation.link(of.about),
        "summary": of.about["summary"],
        "badge": badges.words(list(own["verdict"]))[0],
        "left": f"{counted(left, 'claim')} not judged" if left else "",
        "studies": [(study_section.anchor(name), title) for name, title in titles.items()],
    }


def _distinct(records: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the distinct values of each key over many records."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.items():
            found.setdefault(key, {})[str(value)] = None
    return {key: ", ".join(values) for key, values in found.items()}
