"""The page of one paper: the answer, one figure, why, every study, its claims, how to run it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup

from dpfl.papers import citation
from dpfl.provenance import derivations
from dpfl.report import (
    board,
    claims_table,
    forest,
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
from dpfl.words.numerals import counted
from dpfl.words.vocabulary import NOT_RUN, in_words

GROUPS = {
    "compare": "Comparisons and controls",
    "variants": "Sensitivity: what else was varied",
    "rates": "Sensitivity: rates",
}
"""Under which heading a study stands, by its kind; in this order."""
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
    """Return name and title, the answer of kept results, what all claims come to, citation.

    The paper's first figure follows.
    """
    about, left = page.of.about, len(page.of.not_judged)
    counts = [(own.title, board.tally(claims_table.lines([own]), left)) for own in page.sources]
    shown = {
        "paper": page.of,
        "title": citation.english(about),
        "short": prose.in_short(page.prose),
        "counts": counts,
        "citation": citation.full(about),
        "link": citation.link(about),
    }
    missing = board.unfinished([page.outline])
    return markup.joined(markup.part("head", **shown), markup.listing(missing), hero(page))


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


def found(page: Page) -> Markup:
    """Return what was found, and why, in the words of the paper's own page; a place if it has none.

    HTML in it is shown as text: a page may be a stranger's.
    """
    if not page.prose:
        return Markup('<span id="found"></span>')
    title = markup.part("heading", "What was found, and why", 2, "found")
    return markup.joined(title, markup.markdown(prose.in_full(page.prose)))


def studies(page: Page) -> Markup:
    """Return the studies and analyses of this scale, comparisons and controls first."""
    outline, results = page.outline, page.results
    kinds = {name: results.study(name)["kind"] for name in outline["studies"]}
    sections = {
        title: [study_section.of_study(name, results) for name in kinds if kinds[name] == kind]
        for kind, title in GROUPS.items()
    }
    sections["Computed without training"] = [
        study_section.of_analysis(name, about, results)
        for name, about in outline["analyses"].items()
    ]
    shown = [
        markup.joined(markup.part("heading", title), *own) for title, own in sections.items() if own
    ]
    none = markup.listing([f"The scale {outline['scale']} runs no study of this paper."])
    return markup.joined(Markup('<span id="studies"></span>'), *(shown or [none]))


def audit(page: Page) -> Markup:
    """Return once for all studies the three epsilons, with what no audit sees."""
    names = page.outline["studies"]
    if not names:
        return Markup('<span id="audit"></span>')
    cells = {name: page.results.cells(name) for name in names}
    tables = (study_section.table(name, "epsilons", *privacy.table(cells[name])) for name in names)
    reasons = dict.fromkeys(text for own in cells.values() for text in privacy.reasons(own))
    return markup.joined(
        markup.part("heading", "Audit: ε claimed, certified, audited", 2, "audit"),
        *tables,
        markup.listing([*reasons]),
        markup.part("more", "method.html#privacy", "Whom ε protects, what a certificate assumes"),
    )


def claims(page: Page) -> Markup:
    """Return every judged claim in full, kept and of this run, all bars on one scale."""
    lines = {source.title: claims_table.lines([source]) for source in page.sources}
    most = forest.scale(line.bar for own in lines.values() for line in own)
    shown = [board.tables(own, most, title, own=True) for title, own in lines.items() if own]
    return markup.joined(
        *(shown or [markup.listing(["No claim of this paper is judged."])]),
        markup.part("more", "method.html", "How verdicts are made"),
    )


def parts(page: Page) -> Markup:
    """Return every judged claim as printed, with all its parts; those not run behind one line."""
    rows = claims_table.by_claim(page.results.judged(page.of.key))
    ran, left = [], []
    for name, claim in page.of.claims.items():
        for found in rows.get(name, []) if "status" not in claim else ():
            own = left if found[0]["needs"] == NOT_RUN.needs else ran
            own.append(_parts(claim, found))
    title = f"{counted(len(left), 'claim')} not run at this scale, as printed"
    rest = [markup.part("folded", title, markup.joined(*left))] if left else []
    return markup.joined(*ran, *rest)


def not_run(page: Page) -> Markup:
    """Return the printed numbers that nothing stands beside at this scale."""
    published = page.results.published(page.of.key)
    lines = study_section.printed(published[published["study"] == ""])
    title = f"{counted(len(lines), 'printed number')} that this scale does not run"
    shown = markup.table(study_section.PRINTED, lines)
    return markup.part("folded", title, shown) if lines else shown


def choices(page: Page) -> Markup:
    """Return what the paper leaves open, each choice an assumption."""
    return _listed(CHOICES, page.of.about.get("choices", []))


def not_judged(page: Page) -> Markup:
    """Return the claims that are not judged, with reasons."""
    told = [claim | {"quote": paper.saying(claim)} for claim in page.of.not_judged]
    return _listed(NOT_JUDGED, told)


def download(page: Page) -> Markup:
    """Return links to every table of this scale; beside each lie its Markdown and LaTeX."""
    tables = sorted((page.results.path / "tables" / page.of.key).glob("*.csv"))
    links = [(pictures.link(path, page.results.reports), path.stem) for path in tables]
    return markup.joined(
        markup.part("links", links),
        markup.part("more", f"{layout.above(page.results.is_kept)}cells.csv", "Every cell"),
    )


def reproduce(page: Page) -> Markup:
    """Return the command of this run with its estimate, and those of kept results as they were."""
    key, shown = page.of.key, []
    if not page.results.is_kept:
        hours = page.outline.get("core_hours")
        cost = f", about {hours:g} core-hours by the estimate" if hours is not None else ""
        shown = [
            markup.part("paragraph", f"{page.sources[-1].title}{cost}:"),
            markup.part("source", method_page.command([key], page.outline["scale"])),
        ]
    reference = page.results.reference / key
    told = [
        (source.title, page.results.kept(key) or derivations.about(reference / source.scale))
        for source in page.sources
        if source.kept
    ]
    return markup.joined(
        *shown,
        method_page.of_kept(told),
        markup.part("more", "method.html#provenance", "Commit, versions, hardware and data"),
    )


def _parts(claim: dict, rows: list[dict]) -> Markup:
    """Return a claim as printed, over the table of its parts."""
    shown = markup.table(claims_table.PARTS, [claims_table.part(row) for row in rows])
    found = markup.part("told", claim, paper.saying(claim), shown)
    name = claim.get("short") or paper.saying(claim)
    title = f"{name}: {in_words(rows[0])}, {counted(len(rows), 'row')}"
    return markup.part("folded", title, found)


def _listed(heads: dict[str, str], found: Iterable[dict]) -> Markup:
    """Return a table of some keys of mappings, or that there are none."""
    lines = [[str(one.get(key, "")) for key in heads.values()] for one in found]
    return markup.table(list(heads), lines, tuple(heads)) or markup.listing(["None."])
