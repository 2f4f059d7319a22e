"""The pages of a report beside those of papers, and the page of all kept results."""

from collections.abc import Mapping
from pathlib import Path

from dpfl.base import files
from dpfl.provenance import derivations
from dpfl.report import answers, board, claims_table, judged, layout, method_page, methods
from dpfl.report.cells import CSV
from dpfl.report.layout import LINKS
from dpfl.report.paper import Paper
from dpfl.report.reader import Folder

REPORTS = "{scale}/reports/"
"""From the page of all kept results to the pages of a scale."""


def write(read: Mapping[str, Paper], folder: Folder, index: Path) -> None:
    """Write the first page and those beside it, all into its folder; the first one last."""
    shown = {
        "method": ("method", method_page.context(folder, read)),
        "index": ("index", context(read, folder)),
    }
    links = layout.links(folder.is_kept)
    if not folder.is_kept:  # kept ones have them once, of all scales
        methods.write({folder: [*read]}, index.parent, links)
    for name, (template, more) in shown.items():
        text = layout.render(template, name, links, title=LINKS[name][1], **more)
        files.write_text(index.with_name(f"{name}.html"), text)


def context(read: Mapping[str, Paper], folder: Folder) -> dict:
    """Return everything the first page shows."""
    outlines = [folder.outline(key) for key in read]
    studies = [folder.study(name) for outline in outlines for name in outline["studies"]]
    trained = [about["runs"]["trained"] for key in read if (about := folder.kept(key))]
    return {
        "answers": answers.table(_kept(read, folder.reference), read.values()),
        "board": board.of_run(read.values(), folder),
        "unfinished": board.unfinished(outlines),
        "cells": f"{layout.above(folder.is_kept)}{CSV}",
        "runs": sum(trained) if trained else len(method_page.runs_of(studies)),
    }


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
    rows = method_page.of_kept((read[p.parent.name].short, derivations.about(p)) for p in found)
    shown = {"board": board.of_kept(read.values(), reference, REPORTS), "rows": rows}
    shown |= {"answers": answers.table(_kept(read, reference), read.values()), "unfinished": []}
    beside = next(iter(homes.values()))
    page = layout.render("kept", "kept", links, title="Stored results", beside=beside, **shown)
    files.write_text(home / "index.html", page)


def _kept(read: Mapping[str, Paper], reference: Path) -> list[claims_table.Line]:
    """Return the lines of kept claims."""
    return claims_table.lines(judged.of_reference(reference, read.values()))
