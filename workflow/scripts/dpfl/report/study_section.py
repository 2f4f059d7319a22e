"""One study or analysis on the page of its paper: what ran, figures, cells, findings, privacy."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd
from markupsafe import Markup

from dpfl.plugins import analyses
from dpfl.report import (
    budget_words,
    markup,
    narrative,
    privacy_words,
    published_table,
    rate_words,
    tuning_words,
    unfinished_words,
    verdict_words,
)
from dpfl.report.pictures import link, picture
from dpfl.report.reader import Folder
from dpfl.tables import columns_shown, rendering

GROUPS = {
    "compare": "Comparisons and controls",
    "variants": "Sensitivity: what else was varied",
    "rates": "Sensitivity: rates",
}
"""Under which heading a study stands, by its kind; in this order."""
FOLDED = "Findings, how values were chosen, printed numbers"
SHORT = 20
"""Rows that a table may have without being folded."""


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
    study, cells = folder.study(name), folder.cells(name)
    figures = [
        _figure(path, home, f"{study['title']}: {path.stem}", above)
        for path in folder.figures(study)
    ]
    return markup.joined(
        markup.part("heading", study["title"], 3, anchor(name)),
        markup.listing([narrative.scope(study, cells)]),
        markup.listing(unfinished_words.of_study(study.get("unfinished", []))),
        *figures,
        _accuracies(study, cells),
        markup.part("folded", FOLDED, _in_full(study, cells, folder)),
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


def findings(
    study: dict, cells: pd.DataFrame, compared: pd.DataFrame, ranges: pd.DataFrame
) -> list[str]:
    """Return what a study's tables say, in sentences."""
    if study["kind"] == "rates":
        return [
            *(rate_words.widest(ranges), *rate_words.inert(ranges), rate_words.fairness(ranges)),
            *rate_words.each(ranges),
        ]
    if study["kind"] == "variants":
        found = [*narrative.variants(cells), *narrative.regimes(cells)]
    else:
        found = [*narrative.accuracy(cells), *narrative.regimes(cells)]
    return [
        *budget_words.headline(study, compared),
        *verdict_words.changes(study, compared),
        *found,
        *budget_words.findings(study, cells),
        narrative.divergence(study, cells),
    ]


def _figure(
    path: Path, home: Path, alt: str, above: Collection[Path], package: str = "figures/kinds"
) -> Markup:
    """Return a figure, or only its name where the page has shown it above."""
    if path.resolve() in above:
        return markup.part("paragraph", f"The figure `{path.stem}` stands above.", "soft")
    return markup.part("picture", picture(path, home, alt, package))


def _in_full(study: dict, cells: pd.DataFrame, folder: Folder) -> Markup:
    """Return what only some readers ask for: findings, trials, printed numbers."""
    name = study["name"]
    parts = (_found(study, cells, folder), _tuned(name, folder), _printed(name, folder))
    return markup.joined(*filter(None, parts))


def _accuracies(study: dict, cells: pd.DataFrame) -> Markup:
    if study["kind"] == "rates":
        return Markup("")
    head = markup.part("heading", "Test accuracy, %", 4)
    return markup.joined(head, markup.table(*rendering.grid(cells)))


def _found(study: dict, cells: pd.DataFrame, folder: Folder) -> Markup:
    """Return the sentences of a study, and the tables behind those that compare something."""
    name = study["name"]
    compared, ranges = folder.comparisons(name), folder.ranges(name)
    beside = [part for part, own in (("comparisons", compared), ("ranges", ranges)) if len(own)]
    return markup.joined(
        markup.part("heading", "Findings", 4),
        *(markup.table(*folder.grid(name, part)) for part in beside),
        markup.listing(findings(study, cells, compared, ranges)),
    )


def _tuned(name: str, folder: Folder) -> Markup:
    """Return the values that were chosen for the cells of a study, and every trial."""
    said = tuning_words.of_study(folder.tuned(name), folder.trials(name))
    if not said:
        return Markup("")
    return markup.joined(
        markup.part("heading", "How values were chosen", 4),
        markup.table(*folder.grid(name, "tuned")),
        _table(name, "trials", *folder.grid(name, "trials")),
        markup.listing(said),
    )


def _printed(name: str, folder: Folder) -> Markup:
    """Return what the paper printed beside what was found."""
    lines = published_table.beside(folder.published(name.split("/")[0]), name)
    head = markup.part("heading", "Printed and ours", 4) if lines else ""
    return markup.joined(head, markup.table(published_table.HEADS, lines))


def _table(name: str, suffix: str, heads: list[str], lines: list[list[str]]) -> Markup:
    """Return a table, folded if it is long."""
    title, shown = _title(name, suffix), markup.table(heads, lines)
    if len(lines) <= SHORT:
        return markup.joined(markup.part("heading", f"Table {title}", 4), shown)
    return markup.part("folded", f"Table {title} of {len(lines)} rows", shown)


def _title(name: str, suffix: str) -> str:
    """Return the name of a table on its paper's page."""
    return "_".join(filter(None, (name.split("/")[1], suffix)))


def files(name: str, folder: Folder, home: Path) -> list[dict]:
    """Return links to the tables of a study or analysis that are not empty."""
    computed = name in folder.outline(name.split("/")[0])["analyses"]
    shown = (
        folder.analysis(name)
        if computed
        else {s: folder.grid(name, s) for s in columns_shown.STUDY}
    )
    return [_links(folder, name, suffix, home) for suffix, (_, lines) in shown.items() if lines]


def _links(folder: Folder, name: str, suffix: str, home: Path) -> dict:
    """Return links to the forms of a table."""
    paths = [folder.path_of(name, suffix, ending) for ending in ("csv", "md", "tex")]
    there = [path for path in paths if path.exists()]  # of kept tables there is no LaTeX
    links = [{"text": path.suffix[1:], "href": link(path, home)} for path in there]
    return {"title": _title(name, suffix), "links": links}
