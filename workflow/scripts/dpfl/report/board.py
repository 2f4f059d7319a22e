"""The board of claims on the first page: kept results and this run, each a tab of one table."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.provenance import kept
from dpfl.report import claims_table, forest, judged
from dpfl.report.claims_table import Line, each, tally
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import verdicts
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import DEMONSTRATION, NOT_RUN, UNFINISHED

REFERENCE = kept.HOME.name
KEPT, RUN = "kept", "run"
TITLES = {KEPT: "Kept results", RUN: "This run"}
OPEN = {
    DEMONSTRATION: "only shown at work on a small data set",
    UNFINISHED: UNFINISHED,
    NOT_RUN: NOT_RUN,
}
"""The verdicts that judge nothing, in words."""
FOLDED = {
    DEMONSTRATION: "{} only shown at work on a small data set, which decides nothing",
    NOT_RUN: "{} not run at this scale",
}
"""Of these, those whose rows are folded, under these words."""


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
    if reference:
        kept_ones += judged.of_reference(reference, read)
    return _shown([_tab(KEPT, kept_ones, read, answers), _tab(RUN, ran, read, {})])


def of_kept(
    read: Mapping[str, Paper], reference: Path, reports: str, answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return the board of all kept results, whose pages lie in `reports`, with {scale} in it."""
    sources = judged.of_reference(reference, read, reports)
    return _shown([_tab(KEPT, sources, read, answers)])


def explained(lines: Iterable[Line], most: float) -> str:
    """Say what the bars of some lines show, from -most to +most points; nothing without a bar."""
    drawn = [line.bar for line in lines if line.bar]
    if not drawn:
        return ""
    reran = any(bar.by for bar in drawn)
    return (
        "Bars: ours minus printed, or one method minus the other, from "
        f"−{most:g} to +{most:g} points; the line is the interval, the diamond what the paper "
        f"printed, {'grey what another paper printed of a rerun, ' * reran}the band where the "
        "verdict turns: half the margin to either side of 0 between methods, the whole margin "
        "about what was printed."
    )


def bars(lines: Iterable[Line], most: float) -> dict[Line, Markup]:
    """Return the bars of lines on one scale, from -most to +most points."""
    return {line: forest.draw(line.bar, most, forest.words(line.bar)) for line in lines}


def folded(lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
    """Yield the rows of each folded verdict, with the words that they stand under."""
    lines = list(lines)
    for verdict, words in FOLDED.items():
        own = [line for line in lines if line.verdict == verdict]
        if own:
            yield words.format(counted(len([*each(own)]), "claim")), own


def notes(lines: Iterable[Line]) -> dict[str, int]:
    """Number the remarks that stand beside more than one claim, to be told once."""
    counts = Counter(remark for line in lines for remark in line.remarks)
    often = [remark for remark, count in counts.items() if count > 1]
    return {remark: number for number, remark in enumerate(often, 1)}


def reference_of(folder: Folder, read: Iterable[str]) -> Path | None:
    """Return where kept results lie beside this run's, None if these are kept ones themselves."""
    if any(folder.kept(key) for key in read):
        return None
    found = folder.path / REFERENCE
    return found if kept.folders(found) else None


def answer(source: Source, of: Paper) -> str:
    """Count all claims of a paper by their verdicts, also those that cannot be judged."""
    return counts(claims_table.lines([source], {of.key: of}), claims_table.not_judged(source, of))


def counts(lines: Iterable[Line], left: int) -> str:
    """Count claims by their verdicts; `left` are those that cannot be judged."""
    lines = list(lines)
    told = ", ".join(filter(None, (_tally(_judged(lines)), _rest(lines, left))))
    return f"{counted(len([*each(lines)]) + left, 'claim')}: {told}." if told else "No claim."


def lead(lines: Iterable[Line]) -> str:
    """Say first what the claims of all papers come to; a finding is of one claim at one scale."""
    lines = list(lines)
    found = _judged(lines)
    claims = len({line.identity for line in found})
    findings = f", {len(found)} findings over all scales" * (len(found) > claims)
    many = f"{counted(claims, 'claim')} {'is' if claims == 1 else 'are'} judged{findings}"
    told = f"{many}: {_tally(found)}" if found else "No claim is judged"
    return f"{'; '.join(filter(None, (told, _rest(lines, 0))))}."


def _judged(lines: Iterable[Line]) -> list[Line]:
    """Return the lines of the claims that have a verdict, each on its own."""
    return [line for line in each(lines) if line.verdict not in OPEN]


def _rest(lines: Iterable[Line], left: int) -> str:
    """Count the claims that have no verdict, such as `1 not run`."""
    found = Counter(line.verdict for line in each(lines))
    told = [f"{found[verdict]} {words}" for verdict, words in OPEN.items() if found[verdict]]
    return ", ".join([*told, *([f"{left} cannot be judged"] if left else [])])


def _tally(lines: Iterable[Line]) -> str:
    return tally(line.verdict for line in lines)


def _shown(tabs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the tabs that have something to show, with bars on one scale."""
    shown = [tab for tab in tabs if tab["papers"]]
    lines = [line for tab in shown for line in _of_tab(tab)]
    most = forest.reach(line.bar for line in lines)
    for tab in shown:
        tab["bars"] = bars(_of_tab(tab), most)
    opened = next((tab for tab in shown if tab["lines"]), shown[0])
    certified = {line.certified for line in lines if line.certified}
    privacy = [found for found in verdicts.PRIVACY if found in {line.privacy for line in lines}]
    of = f"{opened['title']}: " if len(shown) > 1 else ""
    return {
        "tabs": shown,
        "opened": opened["id"],
        "lead": f"{of}{lead(_of_tab(opened))}",
        "legend": explained(lines, most),
        "filters": {
            "paper": {one["key"]: one["short"] for tab in shown for one in tab["papers"]},
            "verdict": {verdict: verdict for verdict in sorted({line.verdict for line in lines})},
            "certified": {value: value for value in ("yes", "no") if len(certified) > 1},
            "privacy": {found: found for found in privacy if len(privacy) > 1},
        },
    }


def _tab(
    name: str,
    sources: Iterable[Source],
    read: Mapping[str, Paper],
    answers: Mapping[str, str],
) -> dict[str, Any]:
    """Return a tab, a sentence per paper however many scales there are; judged papers first."""
    sources = list(sources)
    papers = [
        _paper(of, own, answers.get(key, ""))
        for key, of in read.items()
        for own in [[source for source in sources if source.paper == key]]
        if own
    ]
    papers.sort(key=lambda one: (not one["cited"], not one["verdicts"]))
    places = {one["key"]: place for place, one in enumerate(papers)}
    lines = claims_table.lines(sorted(sources, key=lambda own: places[own.paper]), read)
    return {
        "id": name,
        "title": TITLES[name],
        "papers": papers,
        "lines": [line for line in lines if line.verdict not in FOLDED],
        "folded": list(folded(lines)),
    }


def _of_tab(tab: Mapping[str, Any]) -> list[Line]:
    return [*tab["lines"], *(line for _, own in tab["folded"] for line in own)]


def _paper(of: Paper, sources: list[Source], answer: str) -> dict[str, Any]:
    """Return what the list of papers says of one: its verdicts, its answer, and what is open."""
    lines = claims_table.lines(sources, {of.key: of})
    found = Counter((line.verdict, line.tone) for line in _judged(lines))
    return {
        "key": of.key,
        "short": of.short,
        "link": of.link,
        "cited": of.dated,
        "scales": [(source.scale, source.page) for source in sources],
        "verdicts": [(f"{count} {verdict}", tone) for (verdict, tone), count in found.items()],
        "answer": answer,
        "rest": _rest(lines, claims_table.not_judged(sources[0], of)),
    }
