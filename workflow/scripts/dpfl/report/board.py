"""The board of claims on the first page: kept results and this run, each a tab of one table."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from markupsafe import Markup

from dpfl.figures import families
from dpfl.report import claims_table, forest, judged, markup
from dpfl.report.claims_table import Line
from dpfl.report.judged import TITLES, Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.seeds import verdicts
from dpfl.tables import results
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import DEMONSTRATION, NOT_KEPT, NOT_RUN, UNFINISHED

OPEN = {
    DEMONSTRATION.needs: "only shown at work on a small data set",
    UNFINISHED.needs: "unfinished",
    NOT_KEPT.needs: "not kept",
    NOT_RUN.needs: "not run",
}
"""What claims need of which nothing is judged, in words."""
FOLDED = (DEMONSTRATION.needs, NOT_RUN.needs)
"""Of these, those whose rows are folded."""
CAPTION = "One row per claim, with the part that decides it"


def of_run(papers: Iterable[Paper], folder: Folder, answers: Mapping[str, str]) -> dict[str, Any]:
    """Return the board of a results folder, and of kept results beside it.

    `answers` are what the pages of papers say of kept results first.
    """
    own = [judged.of_run(folder, of) for of in papers]
    if folder.is_kept:
        return _board([_tab("kept", own, answers)])
    kept = judged.of_reference(folder.reference, papers)
    return _board([_tab("kept", kept, answers), _tab("run", own, {})])


def of_kept(
    papers: Iterable[Paper], reference: Path, reports: str, answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return the board of all kept results, whose pages lie in `reports`, with {scale} in it."""
    kept = judged.of_reference(reference, papers, reports)
    return _board([_tab("kept", kept, answers)])


def tables(lines: list[Line], most: float, caption: str, own: bool = False) -> Markup:
    """Return the table of some lines; those that need what is FOLDED follow.

    All bars go from -most to +most. On a paper's `own` page claims stand in full, with remarks;
    one that stands beside several claims is a note below.
    """
    caption = f"{caption}. {_legend(most)}" if any(line.bar for line in lines) else caption
    remarks = Counter(remark for line in lines for remark in line.remarks if own)
    often = [remark for remark, count in remarks.items() if count > 1]
    notes = {remark: number for number, remark in enumerate(often, 1)}
    bars = {line: forest.draw(line.bar, most) for line in lines}

    def table(shown: list[Line], caption: str) -> Markup:
        heads = [head for head in ("printed", "ours") if any(getattr(x, head) for x in shown)]
        return markup.part("board", shown, heads, bars, caption, notes, own)

    first = [line for line in lines if line.needs not in FOLDED]
    parts = [table(first, caption)] if first else []
    for needs in FOLDED:
        if rest := [line for line in lines if line.needs == needs]:
            title = f"{counted(len(rest), 'claim')} {OPEN[needs]}"
            parts.append(markup.part("folded", title, table(rest, title)))
    return markup.joined(*parts, markup.listing([f"note {n}: {text}" for text, n in notes.items()]))


def tally(lines: Iterable[Line], left: int = 0) -> str:
    """Count claims by their verdicts; `left` are those that cannot be judged."""
    lines = list(lines)
    found = Counter(line.needs for line in lines)
    decided = Counter(
        line.verdict if line.needs else line.shown for line in lines if line.needs not in OPEN
    )
    judged_ones = [f"{n} {verdict}" for verdict, n in decided.items()]
    rest = [f"{found[needs]} {words}" for needs, words in OPEN.items() if found[needs]]
    rest += [f"{left} cannot be judged"] * bool(left)
    return "; ".join([*judged_ones, *rest]) or "no claim"


def lead(lines: Iterable[Line], papers: Iterable[Paper]) -> str:
    """Say first what the claims of all papers come to; a finding is of one claim at one scale."""
    lines = list(lines)
    found = [line for line in lines if line.needs not in OPEN]
    claims = len({line.identity for line in found})
    entered = sum(len(of.claims) for of in papers)
    findings = f", {len(found)} findings over all scales" * (len(found) > claims)
    return f"{claims} of {counted(entered, 'claim')} are judged{findings}: {tally(lines)}."


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


def _legend(most: float) -> str:
    """Say what bars show, from -most to +most points."""
    return (
        f"Bars: ours minus printed, or one method minus the other, from −{most:g} to +{most:g} "
        "points; the line is the 95 % interval, the diamond what the paper printed, grey what "
        "another paper printed of a rerun, the band where the verdict turns: half the margin about "
        "0 between methods, the whole margin for equal methods and about what was printed."
    )


def _board(tabs: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return the tabs that have something to show, with bars on one scale, and the filters."""
    shown = [tab for tab in tabs if tab["papers"]]
    lines = [line for tab in shown for line in tab["lines"]]
    most = forest.scale(line.bar for line in lines)
    for tab in shown:
        tab["tables"] = tables(tab["lines"], most, CAPTION)
    answered = [tab for tab in shown if {line.needs for line in tab["lines"]} - {*FOLDED}]
    opened = (answered or shown)[0]
    found = {line.privacy for line in lines}
    return {
        "tabs": shown,
        "opened": opened["id"],
        "lead": f"{opened['title']}: {lead(opened['lines'], opened['read'])}",
        "filters": {
            "paper": {line.key: line.paper for line in lines},
            "verdict": {verdict: verdict for verdict in sorted({line.verdict for line in lines})},
            "privacy": {verdict: verdict for verdict in verdicts.PRIVACY if verdict in found},
        },
    }


def _tab(name: str, sources: list[Source], answers: Mapping[str, str]) -> dict[str, Any]:
    """Return a tab: a sentence per paper however many scales there are, and a line per claim.

    Publications stand first, and of them those with a verdict.
    """
    read, papers = {source.of.key: source.of for source in sources}, []
    for key, of in read.items():
        own = [source for source in sources if source.of == of]
        lines = claims_table.lines(own)
        papers.append(
            {
                "of": of,
                "scales": [(source.scale, source.page) for source in own],
                "lines": lines,
                "tally": tally(lines, len(of.not_judged)),
                "answer": answers.get(key, ""),
            }
        )
    papers.sort(key=lambda p: (not p["of"].dated, all(x.needs in OPEN for x in p["lines"])))
    lines = claims_table.answered_first(line for one in papers for line in one["lines"])
    told = {"id": name, "title": TITLES[name], "read": read.values()}
    return told | {"papers": papers, "lines": lines}
