"""The page of one paper: the answer, one figure, why, every study, its claims, how to run it."""

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup

from dpfl.papers import citation
from dpfl.provenance import kept
from dpfl.report import (
    board,
    claims_table,
    forest,
    judged,
    kept_words,
    markup,
    paper,
    pictures,
    prose,
    published_table,
    study_section,
    unfinished_words,
)
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import NOT_RUN

CHOICES = {"open choice": "what", "key": "key", "default": "default", "note": "note"}
NOT_JUDGED = {"claim": "quote", "where": "where", "why it is not judged": "reason"}


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
    def told(self) -> str:
        """Return the paper's own page as Markdown, an empty one if it has none."""
        tables = self.results.path / "tables" / self.of.key
        return prose.of_paper(self.home, tables, self.reference)

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
    counts = [(source.title, board.answer(source, page.of)) for source in page.sources]
    short = prose.in_short(page.told)
    parts = (page.of, "" if title == page.of.short else title, short, counts)
    cited = citation.full(about), citation.link(about)
    missing = unfinished_words.of_papers([page.outline])
    return markup.joined(markup.part("head", *parts, *cited), markup.listing(missing))


def hero(page: Page) -> Markup:
    """Return the paper's first figure, of kept results if there are any, else of this run.

    Of those that its paper.yaml names it is the first that there is.
    """
    for said, path in _figures(page):
        if path.exists():
            alt = f"{said}: {path.parent.name}/{path.stem}"
            shown = pictures.picture(path, page.reports, alt)
            return markup.part("picture", shown | {"caption": f"{said}. {shown['caption']}"})
    return Markup("")


def found(page: Page) -> str:
    """Return the paper's own page as Markdown, an empty place if it has none."""
    if not page.told:
        return '<span id="found"></span>'
    return f'<h2 id="found">What was found, and why</h2>\n\n{prose.in_full(page.told)}'


def studies(page: Page) -> Markup:
    """Return the studies and analyses of this scale, comparisons and controls first."""
    outline, reports = page.outline, page.reports
    if not outline["studies"] and not outline["analyses"]:
        none = f"The scale {outline['scale']} runs no study of this paper."
        return markup.joined(
            markup.part("heading", "Studies", 2, "studies"), markup.listing([none])
        )
    return markup.joined(
        Markup('<span id="studies"></span>'),
        *(
            study_section.of_group(*group, page.results, reports)
            for group in study_section.groups(outline["studies"], page.results)
        ),
        study_section.of_analyses(outline["analyses"], page.results, reports),
    )


def audit(page: Page) -> Markup:
    """Return once for all studies the three epsilons, with what no audit sees."""
    names = page.outline["studies"]
    if not names:
        return Markup('<span id="audit"></span>')
    return markup.joined(
        markup.part("heading", "Audit: ε claimed, certified, audited", 2, "audit"),
        markup.listing(study_section.privacy(page.results, names)),
        markup.part("more", "method.html#privacy", "Whom ε protects, what a certificate assumes"),
    )


def claims(page: Page) -> Markup:
    """Return every judged claim in full, kept and of this run, all bars on one scale."""
    of = page.of
    tables = [(source, claims_table.lines([source], {of.key: of})) for source in page.sources]
    most = forest.reach(line.bar for _, lines in tables for line in lines)
    shown = [_claims(source, lines, most) for source, lines in tables if lines]
    return markup.joined(
        *shown or [markup.listing(["No claim of this paper is judged."])],
        markup.part("more", "method.html", "How verdicts are made"),
    )


def parts(page: Page) -> Markup:
    """Return every judged claim as printed, with all its parts; those not run behind one line."""
    rows = claims_table.by_claim(page.results.judged(page.of.key))
    ran, left = [], []
    for name, claim in page.of.claims.items():
        if "status" not in claim and name in rows:
            own = left if rows[name][0]["verdict"] == NOT_RUN else ran
            own.append(_parts(claim, rows[name]))
    title = f"{counted(len(left), 'claim')} not run at this scale, as printed"
    rest = [markup.part("folded", title, markup.joined(*left))] if left else []
    return markup.joined(*ran, *rest)


def not_run(page: Page) -> Markup:
    """Return the printed numbers that nothing stands beside at this scale."""
    lines = published_table.not_run(page.results.published(page.of.key))
    title = f"{counted(len(lines), 'printed number')} that this scale does not run"
    shown = markup.table(published_table.PRINTED, lines)
    return markup.part("folded", title, shown) if lines else shown


def choices(page: Page) -> Markup:
    """Return what the paper leaves open, each choice an assumption."""
    none = "Nothing that was run depends on a choice of ours."
    return _listed(CHOICES, page.of.choices, none, long=("open choice", "default", "note"))


def not_judged(page: Page) -> Markup:
    """Return the claims that are not judged, with reasons."""
    own = [claim for claim in page.of.claims.values() if "status" in claim]
    told = [claim | {"quote": paper.saying(claim)} for claim in own]
    return _listed(NOT_JUDGED, told, "Every claim that was found is judged.", tuple(NOT_JUDGED))


def download(page: Page) -> Markup:
    """Return links to every table of this scale; beside each lie its Markdown and LaTeX."""
    tables = sorted((page.results.path / "tables" / page.of.key).glob("*.csv"))
    links = [(pictures.link(path, page.reports), path.stem) for path in tables]
    return markup.joined(
        markup.part("links", links),
        markup.part("more", "cells.html", "Every cell, with its runs"),
    )


def reproduce(page: Page) -> Markup:
    """Return the command for each scale that the page shows, what it costs, where it was run."""
    return markup.joined(
        *(part for source in page.sources for part in _command(page, source)),
        markup.part("more", "method.html#provenance", "Commit, versions, hardware and data"),
    )


def _figures(page: Page) -> Iterator[tuple[str, Path]]:
    """Yield whose figure it is, and where it would lie, the best place first."""
    scales = [source.scale for source in page.sources if source.kept]
    for name in page.of.heroes:
        for scale in scales:
            place = page.reference / page.of.key / scale / "figures" / f"{name}.png"
            yield f"Kept results, {scale}", place
    for name in page.of.heroes:
        yield "This run", page.results.path / "figures" / page.of.key / f"{name}.png"


def _claims(source: Source, lines: list[claims_table.Line], most: float) -> Markup:
    """Return the claims of one source; those that answer nothing are folded."""
    notes, bars = board.notes(lines), board.bars(lines, most)

    def table(shown: Iterable[claims_table.Line], caption: str) -> Markup:
        return markup.part("board", list(shown), bars, caption, notes, own=True)

    shown = [line for line in lines if line.verdict not in board.FOLDED]
    caption = f"{source.title}. {board.explained(lines, most)}"
    rest = [markup.part("folded", title, table(few, title)) for title, few in board.folded(lines)]
    numbered = [f"note {number}: {text}" for text, number in notes.items()]
    return markup.joined(table(shown, caption) if shown else "", *rest, markup.listing(numbered))


def _parts(claim: dict, rows: list[dict]) -> Markup:
    """Return a claim as printed, over the table of its parts."""
    shown = markup.table(claims_table.PARTS, [claims_table.part(row) for row in rows])
    told = markup.part("told", claim, paper.saying(claim), shown)
    name = claim.get("short") or paper.saying(claim)
    title = f"{name}: {rows[0]['verdict']}, {counted(len(rows), 'row')}"
    return markup.part("folded", title, told)


def _listed(
    heads: dict[str, str], found: Iterable[dict], none: str, long: tuple[str, ...]
) -> Markup:
    """Return a table of some keys of mappings, or that there are none."""
    lines = [[str(one.get(key, "")) for key in heads.values()] for one in found]
    return markup.table(list(heads), lines, long) if lines else markup.listing([none])


def _command(page: Page, source: Source) -> Iterator[Markup]:
    """Yield the command of kept results as it was, of this run with its estimate."""
    about, hours = None, page.outline.get("core_hours")
    if source.kept:
        key, hours = source.paper, None
        about = page.results.kept(key) or kept.about(page.reference / key / source.scale)
    cost = f", about {hours:g} core-hours by the estimate" if hours is not None else ""
    own = f"make replicate PAPER={shlex.quote(source.paper)} SCALE={shlex.quote(source.scale)}"
    yield markup.part("paragraph", f"{source.title}{cost}:")
    yield markup.part("source", about["command"] if about else own)
    yield markup.listing(kept_words.of(about))
