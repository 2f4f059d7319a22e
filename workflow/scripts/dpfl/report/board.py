"""The board of claims on the first page: kept results and this run, each a tab of one table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.provenance import kept
from dpfl.report import claims_table, forest, judged, paper_words
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


def context(
    read: Mapping[str, Paper],
    folder: Folder,
    reference: Path | None,
    answers: Mapping[str, str],
) -> dict[str, Any]:
    """Return the tabs of the board, one scale for all bars, and what can be filtered by.

    `reference` holds kept results, None for a folder that was itself laid out from them;
    `answers` are what the pages of papers say of kept results first.
    """
    ran = judged.of_run(folder, read)
    kept_ones = [source for source in ran if source.kept]
    ran = [source for source in ran if not source.kept]
    old = judged.before_provenance(reference, read) if reference else []
    if reference:
        kept_ones += judged.of_reference(reference, read)
    places = {path: f"{path.parent.name}.html#found" for path in old}
    return _shown([_kept(kept_ones, places, read, answers), _run(ran, read)])


def of_kept(
    read: Mapping[str, Paper], reference: Path, reports: str, answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return the board of all kept results, whose pages lie in `reports`, with {scale} in it."""
    sources = judged.of_reference(reference, read, reports)
    old = judged.before_provenance(reference, read)
    places = {p: f"{reports.format(scale=p.name)}{p.parent.name}.html" for p in old}
    return _shown([_kept(sources, places, read, answers)])


def _shown(tabs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the tabs that have something to show, with bars on one scale."""
    shown = [tab for tab in tabs if tab["papers"]]
    lines = [line for tab in shown for line in _of_tab(tab)]
    most = forest.reach(line.bar for line in lines)
    for tab in shown:
        tab["bars"] = bars(_of_tab(tab), most)
    return {
        "tabs": shown,
        "opened": next((tab["id"] for tab in shown if tab["lines"]), shown[0]["id"]),
        "reach": most,
        "papers": {one["key"]: one["short"] for tab in shown for one in tab["papers"]},
        "verdicts": sorted({line.verdict for line in lines}),
    }


def bars(lines: Iterable[Line], most: float) -> dict[Line, Markup]:
    """Return the bars of lines on one scale, from -most to +most points."""
    return {line: forest.draw(line.bar, most, forest.words(line.bar)) for line in lines}


def _kept(
    sources: Iterable[Source],
    old: Mapping[Path, str],
    read: Mapping[str, Paper],
    answers: Mapping[str, str],
) -> dict[str, Any]:
    """Return the tab of kept results, a sentence per paper however many scales of it are kept.

    `old` are the addresses of the pages of folders that were kept before claims were.
    """
    sources = list(sources)
    papers = [
        _kept_paper(own, before, of, answers.get(key, ""))
        for key, of in read.items()
        for own in [[source for source in sources if source.paper == key]]
        for before in [{p: page for p, page in old.items() if p.parent.name == key}]
        if own or before
    ]
    return _tab("kept", "Kept results", sources, read) | {"papers": papers, "old": bool(old)}


def _kept_paper(
    own: list[Source], before: Mapping[Path, str], of: Paper, answer: str
) -> dict[str, Any]:
    pages = [*(source.page for source in own), *before.values()]
    scales = [*(source.scale for source in own), *(f"{path.name}*" for path in before)]
    tally = _answer(own, of) if own else ""
    about = _paper(of, pages[0], ", ".join(scales), answer or tally or "No claim is judged.")
    return about | {"tally": tally if answer else ""}


def _run(sources: Iterable[Source], read: Mapping[str, Paper]) -> dict[str, Any]:
    """Return the tab of this run."""
    sources = list(sources)
    papers = [
        _paper(read[s.paper], s.page, s.scale, _answer([s], read[s.paper])) | {"tally": ""}
        for s in sources
    ]
    return _tab("run", "This run", sources, read) | {"papers": papers, "old": False}


def _tab(
    name: str, title: str, sources: Iterable[Source], read: Mapping[str, Paper]
) -> dict[str, Any]:
    lines = claims_table.lines(sources, read)
    return {
        "id": name,
        "title": title,
        "lines": [line for line in lines if line.verdict not in FOLDED],
        "folded": list(_folded(lines)),
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


def _paper(of: Paper, href: str, scales: str, answer: str) -> dict[str, Any]:
    about = {"key": of.key, "short": of.short, "link": of.link}
    return about | {"href": href, "scales": scales, "answer": answer}


def _answer(sources: list[Source], of: Paper) -> str:
    """Say what the judged claims of a paper come to, at all scales that were judged."""
    lines = claims_table.lines(sources, {of.key: of})
    left = claims_table.not_judged(sources[0], of)
    return paper_words.answer(lines, left)


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
