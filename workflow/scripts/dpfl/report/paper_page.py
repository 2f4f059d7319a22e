"""The page of one paper: the answer, one figure, why, every study, its claims, how to run it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from dpfl.papers import citation
from dpfl.report import (
    board,
    claims_table,
    first_figure,
    judged,
    markup,
    paper,
    paper_claims,
    paper_words,
    prose,
    published_table,
    reproducing,
    study_section,
    unfinished_words,
)
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.words.numerals import counted

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
    def reference(self) -> Path:
        """Return where kept results lie."""
        return self.results.path / board.REFERENCE

    @property
    def sources(self) -> list[Source]:
        """Return where claims are judged: kept results first, then this run."""
        own = judged.of_page(self.results, self.of)
        found = [] if own.kept else judged.of_reference(self.reference, {self.of.key: self.of})
        return [*found, own]

    @cached_property
    def told(self) -> tuple[str, set[Path]]:
        """Return the paper's own page as Markdown, and the pictures that it holds.

        The text is empty if it has no page.
        """
        tables = self.results.path / "tables" / self.of.key
        return prose.with_pictures(self.home, tables, self.reference)

    @property
    def reports(self) -> Path:
        """Return where the page will lie."""
        return self.results.path / "reports"


def read(key: str, results: str | Path, home: str | Path) -> Page:
    """Read a paper from the folder of all papers, with its results."""
    own = Path(home) / key
    return Page(paper.read(own), own, Folder(Path(results)))


def head(page: Page) -> Markup:
    """Return name and title, the answer of kept results, what all claims come to, citation."""
    about = page.of.about
    title = citation.english(about)
    counts = [(source.title, _answer(page, source)) for source in page.sources]
    short = prose.in_short(page.told[0])
    parts = (page.of, "" if title == page.of.short else title, short, counts)
    cited = citation.full(about), citation.link(about)
    missing = unfinished_words.of_papers([page.outline])
    return markup.joined(markup.part("head", *parts, *cited), markup.listing(missing))


def hero(page: Page) -> Markup:
    """Return the paper's first figure, of kept results if there are any, else of this run."""
    scales = [source.scale for source in page.sources if source.kept]
    homes = [page.reference / page.of.key / scale for scale in scales]
    return first_figure.of(page.of, homes, page.results, page.reports)


def claims(page: Page) -> Markup:
    """Return every judged claim in full, kept and of this run, all bars on one scale."""
    return paper_claims.in_full(page.sources, page.of)


def parts(page: Page) -> Markup:
    """Return every judged claim as printed, with all its parts."""
    return paper_claims.parts(page.judged, page.of)


def found(page: Page) -> str:
    """Return the paper's own page as Markdown, an empty place if it has none."""
    text, _ = page.told
    if not text:
        return '<span id="found"></span>'
    return f'<h2 id="found">What was found, and why</h2>\n\n{prose.in_full(text)}'


def studies(page: Page) -> Markup:
    """Return the studies and analyses of this scale, comparisons and controls first."""
    outline, reports = page.outline, page.reports
    if not outline["studies"] and not outline["analyses"]:
        none = f"The scale {outline['scale']} runs no study of this paper."
        return markup.joined(
            markup.part("heading", "Studies", 2, "studies"), markup.listing([none])
        )
    _, above = page.told
    return markup.joined(
        Markup('<span id="studies"></span>'),
        *(
            study_section.of_group(*group, page.results, reports, above)
            for group in study_section.groups(outline["studies"], page.results)
        ),
        study_section.of_analyses(outline["analyses"], page.results, reports, above),
    )


def audit(page: Page) -> Markup:
    """Return once for all studies the three epsilons, with what no audit sees."""
    names = page.outline["studies"]
    if not names:
        return Markup('<span id="audit"></span>')
    return markup.joined(
        markup.part("heading", "Audit: ε claimed, certified, audited", 2, "audit"),
        markup.listing(study_section.privacy(page.results, names)),
        markup.part("more", "privacy.html", "Whom ε protects, and what a certificate assumes"),
    )


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
    """Return the way to the rules of all verdicts, which stand once."""
    return markup.part("more", "statistics.html", "How verdicts are made")


def download(page: Page) -> Markup:
    """Return links to every table of this scale."""
    names = [*page.outline["studies"], *page.outline["analyses"]]
    return markup.joined(
        *(
            markup.part("files", study_section.files(name, page.results, page.reports))
            for name in names
        ),
        markup.part("more", "cells.html", "Every cell, with its runs"),
    )


def reproduce(page: Page) -> Markup:
    """Return the command for each scale that the page shows, what it costs, where it was run."""
    shown = [reproducing.of(source, page.results, page.reference) for source in page.sources]
    return markup.joined(
        *shown, markup.part("more", "provenance.html", "Commit, versions, hardware and data")
    )


def _answer(page: Page, source: Source) -> str:
    own = claims_table.lines([source], {page.of.key: page.of})
    return paper_words.answer(own, claims_table.not_judged(source, page.of))
