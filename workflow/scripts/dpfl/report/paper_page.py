"""The page of one paper in views: the answer, every study, audits, claims, how to run it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup

from dpfl.papers import citation
from dpfl.report import (
    answers,
    board,
    claims_table,
    judged,
    layout,
    markup,
    method_page,
    paper,
    pictures,
    privacy,
    prose,
    study_section,
)
from dpfl.report.judged import Source
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

GROUPS = {
    "compare": "Comparisons and controls",
    "variants": "Sensitivity: what else was varied",
    "rates": "Sensitivity: rates",
    "analysis": "Computed without training",
}
"""Under which heading a study stands, by its kind; in this order."""
VIEWS = {"answer": "What was found", "studies": "Studies", "privacy": "Privacy", "claims": "Claims"}
VIEWS |= {"reproduce": "Reproduce"}
"""The views of a page; a study has one of its own."""
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

    @cached_property
    def sources(self) -> list[Source]:
        """Return where claims are judged: kept results first, then this run."""
        own = judged.of_run(self.results, self.of)
        return [*([] if own.kept else judged.of_reference(self.results.reference, [self.of])), own]

    @cached_property
    def prose(self) -> str:
        """Return the paper's own page as Markdown, an empty one if it has none."""
        tables = self.results.path / "tables" / self.of.key
        return prose.of_paper(self.home, tables, self.results.reference)


def read(key: str, results: str | Path, home: str | Path) -> Page:
    """Read a paper from the folder of all papers, with its results."""
    own = Path(home) / key
    return Page(paper.read(own), own, Folder(Path(results)))


def head(page: Page) -> Markup:
    """Return name and title, and the way to each view of the page."""
    return markup.part("head", page.of, citation.english(page.of.about), VIEWS)


def answer(page: Page) -> Markup:
    """Return the answer of kept results, what all claims come to, the first figure, and why.

    HTML in the paper's own page is shown as text: it may be a stranger's.
    """
    about, found = page.of.about, [(own.title, claims_table.lines([own])) for own in page.sources]
    counts = [(title, answers.total(lines)) for title, lines in found]
    return _view(
        "answer",
        markup.part("answer", prose.in_short(page.prose), counts, about["summary"]),
        markup.listing(board.unfinished([page.outline])[:1]),
        hero(page),
        markup.markdown(prose.in_full(page.prose)),
        markup.part("source_of", citation.full(about), citation.link(about), about["read"]),
    )


def hero(page: Page) -> Markup:
    """Return the first figure that there is of those that paper.yaml names, a kept one if any."""
    for name, scales in page.of.heroes.items():
        for source in page.sources:
            path = source.figures / f"{name}.png"
            if source.scale in scales and path.exists():
                shown = pictures.picture(path, page.results.reports, name)
                caption = f"{source.title}. {shown['caption']}"
                return markup.part("picture", shown | {"caption": caption})
    return Markup("")


def studies(page: Page) -> Markup:
    """Return the list of studies and analyses of this scale, and the view of each."""
    outline, results = page.outline, page.results
    analyses = outline["analyses"]
    found = {name: results.study(name) for name in outline["studies"]} | analyses
    kinds = {name: about.get("kind", "analysis") for name, about in found.items()}
    titles = {name: about["title"] for name, about in found.items()}
    listed, views = [], []
    for kind, title in GROUPS.items():
        own = {f"study-{name.split('/')[1]}": name for name in kinds if kinds[name] == kind}
        links = [(f"#{place}", titles[name]) for place, name in own.items()]
        if own:
            listed += [markup.part("heading", title, 3), markup.part("links", links)]
        for place, name in own.items():
            tell = study_section.of_analysis if name in analyses else study_section.of_study
            views.append(markup.part("view", place, tell(name, results)))
    none = markup.listing([f"The scale {outline['scale']} runs no study of this paper."])
    missing = markup.listing(board.unfinished([outline])[1:])
    return markup.joined(_view("studies", *(listed or [none]), missing), *views)


def about_privacy(page: Page) -> Markup:
    """Return why methods have no proof and what no audit sees, and where every ε stands."""
    cells = [page.results.cells(name) for name in page.outline["studies"]]
    return _view(
        "privacy",
        markup.listing([*dict.fromkeys(text for own in cells for text in privacy.reasons(own))]),
        markup.part("about_privacy", _every_cell(page)),
    )


def claims(page: Page) -> Markup:
    """Return every judged claim with its parts, kept and of this run, then those not judged."""
    lines = {source.title: claims_table.lines([source]) for source in page.sources}
    shown = [claims_table.in_full(own, title) for title, own in lines.items() if own]
    told = [claim | {"quote": paper.saying(claim)} for claim in page.of.not_judged]
    return _view(
        "claims",
        *(shown or [markup.listing(["No claim of this paper is judged."])]),
        markup.part("more", "method.html", "How verdicts are made"),
        *_listed("Claims that are not judged", NOT_JUDGED, told),
    )


def reproduce(page: Page) -> Markup:
    """Return the command of these results, what was assumed, and all tables."""
    key, kept = page.of.key, page.results.kept(page.of.key)
    if kept:
        shown = [method_page.of_kept([(page.sources[-1].title, kept)])]
    else:
        hours = page.outline.get("core_hours")
        cost = f", about {hours:g} core-hours by the estimate" if hours is not None else ""
        shown = [
            markup.part("paragraph", f"{page.sources[-1].title}{cost}:"),
            markup.part("source", method_page.command([key], page.outline["scale"])),
        ]
    tables = sorted((page.results.path / "tables" / key).glob("*.csv"))
    return _view(
        "reproduce",
        *shown,
        markup.part("more", "method.html#provenance", "Commit, versions, hardware and data"),
        *_listed("What the paper leaves open", CHOICES, page.of.about.get("choices", [])),
        markup.part("heading", "Download", 3),
        markup.part(
            "links", [(pictures.link(own, page.results.reports), own.stem) for own in tables]
        ),
        markup.part(
            "more", f"{layout.above(page.results.is_kept)}cells.csv", "Every cell, with its runs"
        ),
    )


def _every_cell(page: Page) -> str:
    """Return the way to the table of all cells."""
    return f"{layout.above(page.results.is_kept)}cells.csv"


def _view(name: str, *parts: Markup) -> Markup:
    """Return a view of the page, of which one is shown at a time."""
    return markup.part("view", name, markup.joined(markup.part("heading", VIEWS[name]), *parts))


def _listed(title: str, heads: dict[str, str], found: Iterable[dict]) -> list[Markup]:
    """Return a table of some keys of mappings under a title, nothing if there are none."""
    lines = [[str(one.get(key, "")) for key in heads.values()] for one in found]
    table = markup.table(list(heads), lines, tuple(heads))
    return [markup.part("heading", title, 3), table] if lines else []
