"""The board of claims on the first page: kept results and this run, each a tab of one table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.provenance import kept
from dpfl.report import claims_table, forest, judged, kept_words, paper_words
from dpfl.report.claims_table import Line
from dpfl.report.forms import counted
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

REFERENCE = "reference"
FOLDED = {
    "demonstration": "{} only shown at work on a small data set, which decides nothing",
    "not run": "{} not run at this scale",
}
"""The verdicts that answer nothing: their rows are folded, under these words."""


def context(read: Mapping[str, Paper], folder: Folder, reference: Path | None) -> dict[str, Any]:
    """Return the tabs of the board, one scale for all bars, and what can be filtered by.

    `reference` holds kept results, None for a folder that was itself laid out from them.
    """
    ran = judged.of_run(folder, read)
    kept_ones = [source for source in ran if source.kept]
    ran = [source for source in ran if not source.kept]
    old = []
    if reference:
        kept_ones += judged.of_reference(reference, read)
        old = [_old(path, read) for path in judged.before_provenance(reference, read)]
    tabs = [
        _tab("kept", "Kept results", kept_ones, read) | {"old": old},
        _tab("run", "This run", ran, read) | {"old": []},
    ]
    shown = [tab for tab in tabs if tab["papers"] or tab["old"]]
    lines = [line for tab in tabs for line in _of_tab(tab)]
    most = forest.reach(line.bar for line in lines)
    for tab in shown:
        tab["bars"] = bars(_of_tab(tab), most)
    return {
        "tabs": shown,
        "opened": next((tab["id"] for tab in shown if tab["lines"]), shown[0]["id"]),
        "reach": most,
        "papers": {line.key: line.paper for line in lines},
        "verdicts": sorted({line.verdict for line in lines}),
    }


def bars(lines: Iterable[Line], most: float) -> dict[Line, Markup]:
    """Return the bars of lines on one scale, from -most to +most points."""
    return {line: forest.draw(line.bar, most, forest.words(line.bar)) for line in lines}


def _tab(
    name: str, title: str, sources: Iterable[Source], read: Mapping[str, Paper]
) -> dict[str, Any]:
    sources = list(sources)
    lines = claims_table.lines(sources, read)
    return {
        "id": name,
        "title": title,
        "lines": [line for line in lines if line.verdict not in FOLDED],
        "folded": list(_folded(lines)),
        "papers": [_paper(source, read[source.paper]) for source in sources],
        "said": claims_table.tally(lines),
    }


def _folded(lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
    """Yield the rows of each folded verdict, with the words that they stand under."""
    lines = list(lines)
    for verdict, words in FOLDED.items():
        own = [line for line in lines if line.verdict == verdict]
        if own:
            yield words.format(counted(len(own), "claim")), own


def _of_tab(tab: Mapping[str, Any]) -> list[Line]:
    return [*tab["lines"], *(line for _, own in tab["folded"] for line in own)]


def _paper(source: Source, of: Paper) -> dict[str, Any]:
    own = claims_table.lines([source], {of.key: of})
    left = claims_table.not_judged(source, of)
    return {
        "key": of.key,
        "href": f"{of.key}.html",
        "short": of.short,
        "link": of.link,
        "scale": source.scale,
        "answer": paper_words.answer(own, left),
    }


def _old(path: Path, read: Mapping[str, Paper]) -> dict[str, str]:
    """Return the line of a folder that holds no judged claims."""
    tables = len(list((path / "tables").glob("*.csv")))
    of = read[path.parent.name]
    told = f"{counted(tables, 'table')}, no judged claims. {kept_words.MARK}"
    place = {"key": of.key, "href": f"{of.key}.html#found", "scale": path.name}
    return place | {"short": of.short, "told": told}


def reference_of(folder: Folder, read: Iterable[str]) -> Path | None:
    """Return where kept results lie beside this run's, None if these are kept ones themselves."""
    if any(folder.kept(key) for key in read):
        return None
    found = folder.path / REFERENCE
    return found if kept.folders(found) else None


def notes(lines: Iterable[Line]) -> dict[str, int]:
    """Number the remarks that stand beside more than one claim, to be told once."""
    counts = Counter(remark for line in lines for remark in line.remarks)
    often = [remark for remark, count in counts.items() if count > 1]
    return {remark: number for number, remark in enumerate(often, 1)}
