"""The page of one paper: its claims judged, what was found, every study, and how it was judged."""

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from dpfl.judging import judge
from dpfl.papers import citation
from dpfl.papers import folder as papers
from dpfl.report import (
    claims_table,
    kept_words,
    markup,
    narrative,
    paper,
    prose,
    published_table,
    study_section,
    unfinished_words,
    verdict_words,
)
from dpfl.report.forms import counted
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

CHOICES = {"open choice": "what", "key": "key", "default": "default", "note": "note"}


@dataclass(frozen=True)
class Page:
    """A paper, its folder, and the results of one scale; links start at {results}/reports."""

    of: Paper
    home: Path
    results: Folder

    @property
    def outline(self) -> dict:
        """Return what this scale runs of the paper."""
        return self.results.outline(self.of.key)

    @property
    def judged(self) -> pd.DataFrame:
        """Return the judged claims, a row per part."""
        return self.results.judged(self.of.key)

    @property
    def reports(self) -> Path:
        """Return where the page will lie."""
        return self.results.path / "reports"


def read(key: str, results: str | Path, home: str | Path) -> Page:
    """Read a paper from the folder of all papers, with its results."""
    own = Path(home) / key
    return Page(paper.read(own), own, Folder(Path(results)))


def head(page: Page) -> Markup:
    """Return title, citation with link, summary, what was read, and what kept results are of."""
    about = page.of.about
    english = citation.english(about)
    parts = (page.of, citation.full(about), citation.link(about), english)
    origin = kept_words.of(page.results.kept(page.of.key))
    head = markup.part("head", *parts)
    return markup.joined(markup.part("style"), head, markup.listing(origin))


def claims(page: Page) -> Markup:
    """Return the table of the claims that are judged."""
    lines = claims_table.lines(page.judged, {page.of.key: page.of})
    missing = markup.listing(unfinished_words.of_papers([page.outline]))
    if not lines:
        return missing + markup.listing(["No claim of this paper is judged."])
    told = f"{counted(len(lines), 'claim')}: {claims_table.tally(lines)}."
    return markup.joined(missing, markup.part("claims", lines, own=True), markup.listing([told]))


def parts(page: Page) -> Markup:
    """Return every judged claim as printed, with all its parts in sentences."""
    judged = page.judged
    own = [claim for claim in page.of.claims.values() if "status" not in claim]
    return markup.joined(*(_parts(claim, judged) for claim in own))


def found(page: Page, reference: Path | None = None) -> str:
    """Return the paper's own page as Markdown, nothing if it has none."""
    if not (page.home / papers.PAGE).exists():
        return ""
    kept = reference or page.results.path / "reference"
    text = prose.of_paper(page.home, page.results.path, kept, prose.embedded)
    return f"## What was found\n\n{text}"


def studies(page: Page) -> Markup:
    """Return a section per study and analysis of this scale."""
    outline, reports = page.outline, page.reports
    if not outline["studies"] and not outline["analyses"]:
        none = f"The scale {outline['scale']} runs no study of this paper."
        return markup.joined(markup.part("heading", "Studies"), markup.listing([none]))
    return markup.joined(
        *(study_section.of_study(name, page.results, reports) for name in outline["studies"]),
        *(
            study_section.of_analysis(name, about, page.results, reports)
            for name, about in outline["analyses"].items()
        ),
    )


def privacy(page: Page) -> Markup:
    """Return once whom ε protects here, and what certificates assume."""
    names = page.outline["studies"]
    if not names:
        return Markup("")
    tables = [page.results.cells(name) for name in names]
    head = markup.part("heading", "Whom ε protects")
    return markup.joined(head, markup.listing(narrative.notes(tables)))


def not_run(page: Page) -> Markup:
    """Return the printed numbers that nothing stands beside at this scale."""
    printed = page.results.published(page.of.key)
    lines = published_table.not_run(printed)
    if not lines:
        return Markup("")
    title = f"{counted(len(lines), 'printed number')} that this scale does not run"
    return markup.part("folded", title, markup.table(published_table.PRINTED, lines))


def choices(page: Page) -> Markup:
    """Return what the paper leaves open, each choice an assumption."""
    lines = [[str(one.get(key, "")) for key in CHOICES.values()] for one in page.of.choices]
    if not lines:
        return markup.listing(["Nothing that was run depends on a choice of ours."])
    return markup.table(list(CHOICES), lines, long=("open choice", "default", "note"))


def not_judged(page: Page) -> Markup:
    """Return the claims that are not judged, with reasons."""
    own = [claim for claim in page.of.claims.values() if "status" in claim]
    lines = [[paper.saying(one), one["where"], one["reason"]] for one in own]
    if not lines:
        return markup.listing(["Every claim that was found is judged."])
    heads = ["claim", "where", "why it is not judged"]
    return markup.table(heads, lines, long=("claim", "where", "why it is not judged"))


def rules(page: Page) -> Markup:
    """Return how verdicts on this paper are made: by the kinds of its claims, as they say it."""
    used = dict.fromkeys(one["kind"] for one in page.of.claims.values() if "kind" in one)
    told = verdict_words.of_kinds(used)
    names = page.outline["studies"]
    margins = sorted({page.results.study(name)["margin"] for name in names})
    return markup.joined(
        *(markup.part("rule", kind, text) for kind, text in told.items()),
        *(markup.listing(verdict_words.rules(margin)) for margin in margins),
    )


def cells(page: Page) -> Markup:
    """Return the whole tables of cells, folded, with links to their files."""
    names = [*page.outline["studies"], *page.outline["analyses"]]
    return markup.joined(*(_cells(name, page) for name in names))


def _cells(name: str, page: Page) -> Markup:
    computed = name in page.outline["analyses"]
    heads, lines = page.results.analysis(name)[""] if computed else page.results.grid(name)
    title = f"{name.split('/')[1]}: {counted(len(lines), 'row')}"
    return markup.joined(
        markup.part("folded", title, markup.table(heads, lines)),
        markup.part("files", study_section.files(name, page.results, page.reports)),
    )


def _parts(claim: dict, judged: pd.DataFrame) -> Markup:
    rows = claims_table.parts(judged, claim["id"])
    if not rows:
        return Markup("")
    sentences = [judge.words(pd.Series(row)) for row in rows]
    told = markup.part("told", claim, paper.saying(claim), list(dict.fromkeys(sentences)))
    title = f"{claim['id']}: {rows[0]['verdict']}, {counted(len(rows), 'row')}"
    return markup.part("folded", title, told)
