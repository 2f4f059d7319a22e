"""One study or analysis on the page of its paper: figures, cells, comparisons, choices."""

from pathlib import Path

from markupsafe import Markup

from dpfl.figures import datasets
from dpfl.plugins import analyses
from dpfl.report import markup
from dpfl.report.pictures import picture
from dpfl.report.reader import Folder
from dpfl.tables import rendering, results

SHORT = 20
"""Rows that a table may have without being folded."""


def of_study(name: str, folder: Folder) -> Markup:
    """Return the section of a study."""
    study, tuned = folder.study(name), markup.table(*folder.grid(name, "tuned"))
    return markup.joined(
        markup.part("heading", study["title"]),
        *(_figure(path, folder, study["title"]) for path in folder.figures(study)),
        _outcome(study, folder),
        _headed("Against the baseline", markup.table(*folder.grid(name, "comparisons"))),
        *((_headed("How values were chosen", tuned), markup.part("unpaid")) if tuned else ()),
    )


def of_analysis(name: str, folder: Folder) -> Markup:
    """Return the section of an analysis, which trains nothing; long tables are folded."""
    paper = name.split("/")[0]
    about = folder.outline(paper)["analyses"][name]
    path = folder.path / "figures" / name / f"{about['uses']}.png"
    package = analyses.package_of(paper, about["uses"])
    return markup.joined(
        markup.part("heading", about["title"]),
        _figure(path, folder, about["title"], package),
        *(table(name, suffix, *shown) for suffix, shown in folder.analysis(name).items()),
    )


def _figure(path: Path, folder: Folder, title: str, package: str = "figures/kinds") -> Markup:
    return markup.part("picture", picture(path, folder.reports, title, package))


def _outcome(study: dict, folder: Folder) -> Markup:
    """Return the accuracy of every cell, or of a study of rates their good ranges."""
    if study["kind"] == "rates":
        return _headed("Good ranges of rates", markup.table(*folder.grid(study["name"], "ranges")))
    shown = markup.table(*rendering.grid(folder.cells(study["name"]), results.varied(study)))
    return _headed(f"Test accuracy on {datasets.title(study['dataset'])}, %", shown)


def _headed(title: str, shown: Markup) -> Markup:
    """Return a table under its heading, nothing without a line."""
    return markup.joined(markup.part("heading", title, 3), shown) if shown else Markup("")


def table(name: str, suffix: str, heads: list[str], lines: list[list[str]]) -> Markup:
    """Return a table, folded if it is long."""
    title = "_".join(filter(None, (name.split("/")[1], suffix)))
    shown = markup.table(heads, lines)
    if len(lines) <= SHORT:
        return _headed(f"Table {title}", shown)
    return markup.part("folded", f"Table {title} of {len(lines)} rows", shown)
