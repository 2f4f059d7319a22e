"""One study or analysis on the page of its paper: figures, cells, comparisons, trials, prints."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from dpfl.figures import datasets
from dpfl.plugins import analyses
from dpfl.report import markup, privacy_words, published_table, unfinished_words
from dpfl.report.pictures import picture
from dpfl.report.reader import Folder
from dpfl.tables import rendering

GROUPS = {
    "compare": "Comparisons and controls",
    "variants": "Sensitivity: what else was varied",
    "rates": "Sensitivity: rates",
}
"""Under which heading a study stands, by its kind; in this order."""
FOLDED = "Comparisons, how values were chosen, printed numbers"
SHORT = 20
"""Rows that a table may have without being folded."""
UNPAID = (
    "No certified ε pays for the choice, which looked at held-out private examples without noise. "
    "The last column is what it would cost the training examples if a random number of trials, as "
    "many on average, were drawn from a list fixed beforehand, and the best run alone released "
    "(Papernot and Steinke 2022); examples held out would have to be public."
)


def groups(names: list[str], folder: Folder) -> list[tuple[str, list[str]]]:
    """Return studies by what they are for, under the heading of each group."""
    found: dict[str, list[str]] = {title: [] for title in GROUPS.values()}
    for name in names:
        found[GROUPS[folder.study(name)["kind"]]].append(name)
    return [(title, own) for title, own in found.items() if own]


def of_group(
    title: str, names: list[str], folder: Folder, home: Path, above: Collection[Path] = ()
) -> Markup:
    """Return the sections of studies that answer one question, but for the figures `above`."""
    sections = [of_study(name, folder, home, above) for name in names]
    return markup.joined(markup.part("heading", title), *sections)


def of_analyses(
    found: dict[str, dict], folder: Folder, home: Path, above: Collection[Path] = ()
) -> Markup:
    """Return the sections of analyses, nothing without one."""
    if not found:
        return Markup("")
    sections = [of_analysis(name, about, folder, home, above) for name, about in found.items()]
    return markup.joined(markup.part("heading", "Computed without training"), *sections)


def privacy(folder: Folder, names: list[str]) -> list[str]:
    """Tell the epsilons of all studies together, and whether they pay for chosen values."""
    cells = pd.concat([folder.cells(name) for name in names], ignore_index=True)
    said = [privacy_words.selection(folder.study(name)) for name in names]
    return [*privacy_words.privacy(cells), *dict.fromkeys(said)]


def of_study(name: str, folder: Folder, home: Path, above: Collection[Path] = ()) -> Markup:
    """Return the section of a study; links are relative to `home`, the page's folder.

    Figures that the page has shown `above` are named alone.
    """
    study = folder.study(name)
    figures = [
        _figure(path, home, f"{study['title']}: {path.stem}", above)
        for path in folder.figures(study)
    ]
    return markup.joined(
        markup.part("heading", study["title"], 3, anchor(name)),
        markup.listing(unfinished_words.of_study(study.get("unfinished", []))),
        *figures,
        _outcome(study, folder),
        markup.part("folded", FOLDED, _in_full(name, folder)),
    )


def of_analysis(
    name: str, about: dict, folder: Folder, home: Path, above: Collection[Path] = ()
) -> Markup:
    """Return the section of an analysis, which trains nothing; long tables are folded."""
    paper, path = name.split("/")[0], folder.path / "figures" / name / f"{about['uses']}.png"
    package = analyses.package_of(paper, about["uses"])
    return markup.joined(
        markup.part("heading", about["title"], 3, anchor(name)),
        _figure(path, home, about["title"], above, package),
        *(_table(name, suffix, *shown) for suffix, shown in folder.analysis(name).items()),
        _printed(name, folder),
    )


def anchor(name: str) -> str:
    """Return the name of the place on a paper's page that tells a study or an analysis."""
    return f"study-{name.split('/')[1]}"


def _figure(
    path: Path, home: Path, alt: str, above: Collection[Path], package: str = "figures/kinds"
) -> Markup:
    """Return a figure, or only its name where the page has shown it above."""
    if path.resolve() in above:
        return markup.part("paragraph", f"The figure `{path.stem}` stands above.", "soft")
    return markup.part("picture", picture(path, home, alt, package))


def _outcome(study: dict, folder: Folder) -> Markup:
    """Return the accuracy of every cell, or of a study of rates their good ranges."""
    if study["kind"] == "rates":
        return _headed("Good ranges of rates", markup.table(*folder.grid(study["name"], "ranges")))
    shown = markup.table(*rendering.grid(folder.cells(study["name"])))
    return _headed(f"Test accuracy on {datasets.of(study)}, %", shown)


def _in_full(name: str, folder: Folder) -> Markup:
    """Return what only some readers ask for, each a table where it is not empty."""
    grids = {part: folder.grid(name, part) for part in ("comparisons", "tuned", "trials")}
    shown = {part: markup.table(*grid) for part, grid in grids.items()}
    tuned = [
        _headed("How values were chosen", shown["tuned"]),
        _table(name, "trials", *grids["trials"]),
        markup.listing([UNPAID]),
    ]
    return markup.joined(
        _headed("Against the baseline", shown["comparisons"]),
        *(tuned if shown["tuned"] else []),
        _printed(name, folder),
    )


def _printed(name: str, folder: Folder) -> Markup:
    """Return what the paper printed beside what was found."""
    lines = published_table.beside(folder.published(name.split("/")[0]), name)
    return _headed("Printed and ours", markup.table(published_table.HEADS, lines))


def _headed(title: str, shown: Markup) -> Markup:
    """Return a table under its heading, nothing without a line."""
    return markup.joined(markup.part("heading", title, 4), shown) if shown else Markup("")


def _table(name: str, suffix: str, heads: list[str], lines: list[list[str]]) -> Markup:
    """Return a table, folded if it is long."""
    title, shown = _title(name, suffix), markup.table(heads, lines)
    if len(lines) <= SHORT:
        return _headed(f"Table {title}", shown)
    return markup.part("folded", f"Table {title} of {len(lines)} rows", shown)


def _title(name: str, suffix: str) -> str:
    """Return the name of a table on its paper's page."""
    return "_".join(filter(None, (name.split("/")[1], suffix)))
