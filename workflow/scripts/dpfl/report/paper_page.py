"""The page of one paper in views: the answer, every study, claims, how to run it."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from markupsafe import Markup

from dpfl.figures import datasets, pictures
from dpfl.papers import citation
from dpfl.plugins import analyses
from dpfl.report import answers, board, claims_table, judged, markup, method_page, paper, prose
from dpfl.report.cells import CSV
from dpfl.report.judged import Source
from dpfl.report.layout import above
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.report.values import read as read_table
from dpfl.tables import rendering, results
from dpfl.terminal.choice import Choice

GROUPS = {
    "compare": "Comparisons and controls",
    "variants": "Sensitivity: what else was varied",
    "rates": "Sensitivity: rates",
    "analysis": "Computed without training",
}
"""Under which heading a study stands, by its kind; in this order."""
VIEWS = {"answer": "What was found", "studies": "Studies", "claims": "Claims"}
VIEWS |= {"reproduce": "Reproduce"}
"""The views of a page; a study has one of its own."""
CHOICES = {"open choice": "what", "key": "key", "default": "default", "note": "note"}
NOT_JUDGED = {"claim": "quote", "where": "where", "why it is not judged": "reason"}
SHORT = 20
"""Rows that a table of an analysis may have without being folded."""


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
        return judged.of_run(self.results, [self.of])

    @cached_property
    def prose(self) -> str:
        """Return the paper's own page as Markdown, an empty one if it has none."""
        tables = self.results.path / "tables" / self.of.key
        return prose.of_paper(self.home, tables, self.results.reference)


def read(key: str, results: str | Path, home: str | Path) -> Page:
    """Read a paper from the folder of all papers, with its results."""
    own = Path(home) / key
    return Page(paper.read(own), own, Folder(Path(results)))


def whole(page: Page) -> Markup:
    """Return everything that the page shows, in the order of the notebook of papers."""
    return markup.joined(head(page), answer(page), studies(page), claims(page), reproduce(page))


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
    for name, scales in page.of.about.get("hero", {}).items():
        for source in page.sources:
            path = source.figures / f"{name}.png"
            if source.scale in scales and path.exists():
                shown = pictures.picture(path, page.results.reports, name)
                return markup.part("picture", shown, f"{source.title}. ")
    return Markup("")


def studies(page: Page) -> Markup:
    """Return the list of studies and analyses of this scale, and the view of each."""
    outline, folder = page.outline, page.results
    found = {name: folder.study(name) for name in outline["studies"]}
    found |= {name: own | {"kind": "analysis"} for name, own in outline["analyses"].items()}
    listed, views = [], []
    for kind, title in GROUPS.items():
        tell = _of_analysis if kind == "analysis" else _of_study
        own = {f"study-{name.split('/')[1]}": name for name in found if found[name]["kind"] == kind}
        links = [(f"#{place}", found[name]["title"]) for place, name in own.items()]
        listed += [markup.part("heading", title, 3), markup.part("links", links)] if own else []
        views += [markup.part("view", place, tell(name, folder)) for place, name in own.items()]
    none = markup.listing([f"The scale {outline['scale']} runs no study of this paper."])
    missing = markup.listing(board.unfinished([outline])[1:])
    return markup.joined(_view("studies", *(listed or [none]), missing), *views)


def _of_study(name: str, folder: Folder) -> Markup:
    """Return the section of a study."""
    study = folder.study(name)
    compared, tuned = (markup.table(*folder.grid(name, kind)) for kind in ("comparisons", "tuned"))
    priced = read_table(folder.path_of(name, "tuned"))["eps_selected"].notna().any()
    return markup.joined(
        markup.part("heading", study["title"]),
        *(_figure(path, folder, study["title"]) for path in folder.figures(study)),
        _outcome(study, folder),
        markup.part("headed", "Against the baseline", compared),
        markup.part("chosen", tuned, priced),
    )


def _of_analysis(name: str, folder: Folder) -> Markup:
    """Return the section of an analysis, which trains nothing; long tables are folded."""
    key = name.split("/")[0]
    about = folder.outline(key)["analyses"][name]
    path = folder.path / "figures" / name / f"{about['uses']}.png"
    package = analyses.package_of(key, about["uses"])
    return markup.joined(
        markup.part("heading", about["title"]),
        _figure(path, folder, about["title"], package),
        *(table(name, suffix, *shown) for suffix, shown in folder.analysis(name).items()),
    )


def _figure(path: Path, folder: Folder, title: str, package: str = "figures/kinds") -> Markup:
    return markup.part("picture", pictures.picture(path, folder.reports, title, package))


def _outcome(study: dict, folder: Folder) -> Markup:
    """Return the accuracy of every cell, or of a study of rates their good ranges."""
    if study["kind"] == "rates":
        ranges = markup.table(*folder.grid(study["name"], "ranges"))
        return markup.part("headed", "Good ranges of rates", ranges)
    shown = markup.table(*rendering.grid(folder.cells(study["name"]), results.varied(study)))
    return markup.part("headed", f"Test accuracy on {datasets.title(study['dataset'])}, %", shown)


def table(name: str, suffix: str, heads: list[str], lines: list[list[str]]) -> Markup:
    """Return a table, folded if it is long."""
    title = "_".join(filter(None, (name.split("/")[1], suffix)))
    shown = markup.table(heads, lines)
    if len(lines) <= SHORT:
        return markup.part("headed", f"Table {title}", shown)
    return markup.part("folded", f"Table {title} of {len(lines)} rows", shown)


def claims(page: Page) -> Markup:
    """Return every judged claim with its parts, kept and of this run, then those not judged."""
    lines = {source.title: claims_table.lines([source]) for source in page.sources}
    shown = [claims_table.in_full(own, title) for title, own in lines.items() if own]
    told = [claim | {"quote": paper.saying(claim)} for claim in page.of.not_judged]
    return _view(
        "claims",
        *(shown or [markup.listing(["No claim of this paper is judged."])]),
        markup.part("links", [("method.html", "How verdicts are made")]),
        _listed("Claims that are not judged", NOT_JUDGED, told),
    )


def reproduce(page: Page) -> Markup:
    """Return the command of these results, what was assumed, and all tables."""
    key, folder, kept = page.of.key, page.results, page.results.kept(page.of.key)
    command = Choice({"papers": [key], "scale": page.outline["scale"]}).command()
    told = page.sources[-1].title, command, page.outline.get("core_hours")
    tables = sorted((folder.path / "tables" / key).glob("*.csv"))
    links = [(pictures.link(path, folder.reports), path.stem) for path in tables]
    links += [(f"{above(folder.is_kept)}{CSV}", "every cell, with its runs")]
    return _view(
        "reproduce",
        method_page.of_kept(kept) if kept else markup.part("command", *told),
        _listed("What the paper leaves open", CHOICES, page.of.about.get("choices", [])),
        markup.part("heading", "Download", 3),
        markup.part("links", links),
    )


def _view(name: str, *parts: Markup) -> Markup:
    """Return a view of the page, of which one is shown at a time."""
    return markup.part("view", name, markup.joined(markup.part("heading", VIEWS[name]), *parts))


def _listed(title: str, heads: dict[str, str], found: Iterable[dict]) -> Markup:
    """Return a table of some keys of mappings under a title, nothing if there are none."""
    lines = [[str(one.get(key, "")) for key in heads.values()] for one in found]
    return markup.part("headed", title, markup.table(list(heads), lines, tuple(heads)))
