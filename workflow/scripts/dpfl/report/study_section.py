"""One study or analysis on the page of its paper: figures, cells, comparisons, trials, prints."""

from pathlib import Path

import pandas as pd
from markupsafe import Markup

from dpfl.figures import datasets, families
from dpfl.judging.published import FIXED
from dpfl.plugins import analyses
from dpfl.report import claims_table, markup
from dpfl.report.pictures import picture
from dpfl.report.reader import Folder
from dpfl.tables import rendering, results
from dpfl.words import vocabulary
from dpfl.words.numerals import known, text

FOLDED = "Comparisons, how values were chosen, printed numbers"
PRINTED = ["table", "row", "at", "printed", "method", "compared", "ours", "difference", "verdict"]
"""The heads of what a paper printed."""
SHORT = 20
"""Rows that a table may have without being folded."""
UNPAID = (
    "No certified ε pays for the choice. The last column is what it would cost the training "
    "examples if a random number of trials, as many on average, were drawn from a list fixed "
    "beforehand, and the best run alone released (Papernot and Steinke 2022); examples held out "
    "would have to be public."
)


def of_study(name: str, folder: Folder) -> Markup:
    """Return the section of a study."""
    study = folder.study(name)
    return markup.joined(
        markup.part("heading", study["title"], 3, _anchor(name)),
        *(_figure(path, folder, study["title"]) for path in folder.figures(study)),
        _outcome(study, folder),
        markup.part("folded", FOLDED, _in_full(name, folder)),
    )


def of_analysis(name: str, about: dict, folder: Folder) -> Markup:
    """Return the section of an analysis, which trains nothing; long tables are folded."""
    paper, path = name.split("/")[0], folder.path / "figures" / name / f"{about['uses']}.png"
    package = analyses.package_of(paper, about["uses"])
    return markup.joined(
        markup.part("heading", about["title"], 3, _anchor(name)),
        _figure(path, folder, about["title"], package),
        *(table(name, suffix, *shown) for suffix, shown in folder.analysis(name).items()),
        _printed(name, folder),
    )


def _anchor(name: str) -> str:
    """Return the name of the place on a paper's page that tells a study or an analysis."""
    return f"study-{name.split('/')[1]}"


def _figure(path: Path, folder: Folder, title: str, package: str = "figures/kinds") -> Markup:
    return markup.part("picture", picture(path, folder.reports, title, package))


def _outcome(study: dict, folder: Folder) -> Markup:
    """Return the accuracy of every cell, or of a study of rates their good ranges."""
    if study["kind"] == "rates":
        return _headed("Good ranges of rates", markup.table(*folder.grid(study["name"], "ranges")))
    shown = markup.table(*rendering.grid(folder.cells(study["name"]), results.varied(study)))
    return _headed(f"Test accuracy on {datasets.title(study['dataset'])}, %", shown)


def _in_full(name: str, folder: Folder) -> Markup:
    """Return what only some readers ask for, each a table where it is not empty."""
    grids = {part: folder.grid(name, part) for part in ("comparisons", "tuned", "trials")}
    shown = {part: markup.table(*grid) for part, grid in grids.items()}
    tuned = [
        _headed("How values were chosen", shown["tuned"]),
        table(name, "trials", *grids["trials"]),
        markup.listing([UNPAID]),
    ]
    return markup.joined(
        _headed("Against the baseline", shown["comparisons"]),
        *(tuned if shown["tuned"] else []),
        _printed(name, folder),
    )


def _printed(name: str, folder: Folder) -> Markup:
    """Return what the paper printed beside what was found."""
    published = folder.published(name.split("/")[0])
    lines = printed(published[published["study"] == name])
    return _headed("Printed and ours", markup.table(PRINTED, lines))


def _headed(title: str, shown: Markup) -> Markup:
    """Return a table under its heading, nothing without a line."""
    return markup.joined(markup.part("heading", title, 4), shown) if shown else Markup("")


def table(name: str, suffix: str, heads: list[str], lines: list[list[str]]) -> Markup:
    """Return a table, folded if it is long."""
    title = "_".join(filter(None, (name.split("/")[1], suffix)))
    shown = markup.table(heads, lines)
    if len(lines) <= SHORT:
        return _headed(f"Table {title}", shown)
    return markup.part("folded", f"Table {title} of {len(lines)} rows", shown)


def printed(published: pd.DataFrame) -> list[list[str]]:
    """Return what a paper printed beside what was found: a line per number, under PRINTED."""
    coordinates = [name for name in published.columns if name not in FIXED]
    return [_line(row, coordinates) for row in published.to_dict("records")]


def _line(row: dict, coordinates: list[str]) -> list[str]:
    read_as = f" (read: {row['reading']})" if known(row.get("reading")) else ""
    found = {"ours_low": row["ci_low"], "ours_high": row["ci_high"]} | row
    told = row | {"dataset": datasets.title(str(row.get("dataset")))}
    places = [f"{name} {_short(told[name])}" for name in coordinates if known(row[name])]
    return [
        str(row["table"]),
        f"{families.named(str(row['row']))}{read_as}",
        ", ".join(places),
        _short(row["printed"]) + text(row.get("printed_sd"), " ± {:g}"),
        families.named(str(row["method"])),
        next((str(row[key]) for key in ("compared", "not_run") if known(row.get(key))), ""),
        claims_table.ours(found) or claims_table.seeds(found),
        f"{row['difference']:+.2f}" if known(row["difference"]) else "",
        vocabulary.in_words(row),
    ]


def _short(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
