"""The pages of a report beside those of papers, and the page of all kept results."""

from collections.abc import Mapping
from itertools import chain
from pathlib import Path

from markupsafe import Markup

from dpfl.base import files
from dpfl.figures import pictures
from dpfl.planning import plan
from dpfl.provenance import derivations
from dpfl.report import board, judged, layout, markup, method_page, methods
from dpfl.report.cells import CSV
from dpfl.report.layout import LINKS
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder
from dpfl.terminal import answer
from dpfl.tuning.parts import tuned

FIGURE = "accuracy"
"""What a demonstration shows of its study with the most cells that has one."""
REPORTS = "{scale}/reports/"
"""From the page of all kept results to the pages of a scale."""


def write(read: Mapping[str, Paper], folder: Folder, index: Path) -> None:
    """Write the first page and those beside it, all into its folder; the first one last."""
    links = layout.links(folder.is_kept)
    if not folder.is_kept:  # kept ones have them once, of all scales
        methods.write({folder: [*read]}, index.parent, links)
    pages = {"method": method_page.context(folder, read), "index": context(read, folder)}
    for name, shown in pages.items():
        text = layout.render(name, name, links, title=LINKS[name][1], **shown)
        files.write_text(index.with_name(f"{name}.html"), text)


def context(read: Mapping[str, Paper], folder: Folder) -> dict:
    """Return everything the first page shows."""
    outlines = [folder.outline(key) for key in read]
    studies = [folder.study(name) for outline in outlines for name in outline["studies"]]
    runs = plan.runs_of(studies)
    making = [own["key"] for own in outlines if own["judging"] or own["analyses"]]
    trained = [about["runs"]["trained"] for key in read if (about := folder.kept(key))]
    shows = not folder.is_kept and all(study["demonstrates"] for study in studies)
    return {
        "this_run": _demonstrated(making, folder, studies) if shows and runs else [],
        "board": board.of_sources(judged.of_run(folder, read.values())),
        "unfinished": board.unfinished(outlines),
        "cells": f"{layout.above(folder.is_kept)}{CSV}",
        "runs": sum(trained) if trained else len(runs),
    }


def _demonstrated(papers: list[str], folder: Folder, studies: list[dict]) -> list[Markup]:
    """Return what a demonstration shows: whether it fits, what to run next, most accuracies."""
    stages = {cell.get("tuning") for study in studies for cell in study["cells"]} - {None}
    made = (files.read_json(folder.path / f"tunings/{name}.json") for name in stages)
    runs = {*plan.runs_of(studies), *chain(*map(tuned.trials_of, made))}
    told = [*answer.demonstrated(runs, folder.path), *answer.following(papers, folder.chosen)]
    by_size = sorted(studies, key=lambda study: -len(study["cells"]))
    drawn = [p for of in by_size for p in folder.figures(of) if p.stem == FIGURE and p.exists()]
    shown = (pictures.picture(path, folder.reports, FIGURE) for path in drawn[:1])
    return [markup.listing(told), *(markup.part("picture", figure) for figure in shown)]


def write_all_kept(read: Mapping[str, Paper], reference: Path, home: Path) -> None:
    """Write the page of all kept results, and what is of all scales, such as the leaderboard.

    The first has their board, and where each folder comes from. `home` has a folder per scale.
    """
    found = derivations.folders(reference)
    homes = {scale: REPORTS.format(scale=scale) for scale in sorted({p.name for p in found})}
    links = [(f"{place}index.html", f"Scale {scale}") for scale, place in homes.items()]
    links += [(f"{name}.html", LINKS[name][0]) for name in layout.ACROSS]
    own = {Folder(home / s): [p.parent.name for p in found if p.name == s] for s in homes}
    methods.write(own, home, [("index.html", layout.ALL_KEPT[1]), *links])
    shown = {
        "board": board.of_sources(judged.of_reference(reference, read.values(), REPORTS)),
        "beside": next(iter(homes.values())),
        "cells": CSV,
        "runs": sum(derivations.about(path)["runs"]["trained"] for path in found),
    }
    page = layout.render("index", "kept", links, title="Stored results", **shown)
    files.write_text(home / "index.html", page)
