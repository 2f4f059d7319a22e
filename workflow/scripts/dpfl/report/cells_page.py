"""The page of every cell: sortable and filterable without a network, each with its runs."""

import math
from collections.abc import Iterable
from typing import Any

import itables
import pandas as pd
from itables.javascript import generate_init_offline_itables_html
from markupsafe import Markup, escape

from dpfl.figures import families
from dpfl.report import cells_of, markup
from dpfl.report.forms import counted
from dpfl.report.pictures import link
from dpfl.report.reader import Folder
from dpfl.tables.numerals import known, rounded_down, rounded_up

HEADS = ("paper", "study", "data", "method", "variant", "ε", "accuracy, %", "95 % interval", "n")
HEADS += ("trained", "ε certified", "ε audited", "unit", "rate", "runs")
FILES = {"settings": "summary.json", "curve": "metrics.csv"}
CSV = "cells.csv"


def body(folder: Folder, papers: Iterable[str]) -> Markup:
    """Return the table of all cells; links are relative to results/reports."""
    found = cells_of.of_papers(folder, papers)
    if not len(found):
        return markup.listing(["This scale runs no study."])
    shown = pd.DataFrame([_line(row, folder) for row in found.to_dict("records")], columns=HEADS)
    table = itables.to_html_datatable(
        shown,
        caption=f"{len(shown)} cells: click a head to sort, type to filter",
        connected=False,
        allow_html=True,
        showIndex=False,
        pageLength=25,
        lengthMenu=[25, 100, 1000],
        maxBytes=0,
        classes="display compact",
        style="width:100%",
    )
    bundle = generate_init_offline_itables_html(itables.options.dt_bundle)
    shown_as_csv = markup.part("more", CSV, "All cells as CSV")
    return markup.joined(
        Markup(bundle), shown_as_csv, markup.part("scroll", "Every cell", Markup(table))
    )


def csv(folder: Folder, papers: Iterable[str]) -> str:
    """Return all cells as CSV, the names of their runs parted by blanks."""
    found = cells_of.of_papers(folder, papers)
    return found.assign(runs=found["runs"].map(" ".join)).to_csv(index=False, lineterminator="\n")


def _line(row: dict[str, Any], folder: Folder) -> list[Any]:
    certified, audited = row["eps_certified"], row["eps_audited"]
    ends = f"{row['ci_low']:.1f} to {row['ci_high']:.1f}" if known(row["ci_low"]) else ""
    private = math.isfinite(row["epsilon"])
    paper, study, dataset, variant = (
        str(escape(row[key])) for key in ("paper", "study", "dataset", "variant")
    )
    return [
        *(paper, study, dataset, _method(row["method"]), variant),
        f"{row['epsilon']:g}",
        f"{row['accuracy']:.2f}" if known(row["accuracy"]) else "",
        ends,
        int(row["n"]),
        int(row["trained"]),
        (rounded_up(certified) if known(certified) else "no proof") if private else "",
        f"≥ {rounded_down(audited)}" if known(audited) else "",
        row["unit"] if private else "",
        str(escape(row["rate"])),
        _runs(row["runs"], folder),
    ]


def _method(name: str) -> str:
    """Return what a method is called, with its name beside: here are those of all papers."""
    called = families.named(name)
    beside = f" <small>{escape(name)}</small>" if called != name else ""
    return f"{escape(called)}{beside}"


def _runs(runs: list[str], folder: Folder) -> str:
    """Return the runs of a cell, folded."""
    shown = "".join(_run(run, number, folder) for number, run in enumerate(runs, 1))
    return f"<details><summary>{counted(len(runs), 'run')}</summary>{shown}</details>"


def _run(run: str, number: int, folder: Folder) -> str:
    """Return links to the files of a run that lie here; its number alone where none does."""
    home, reports = folder.path / "runs" / run, folder.path / "reports"
    places = {name: home / file for name, file in FILES.items()}
    places["log"] = folder.path / "logs" / "train" / f"{run}.log"
    links = [
        f'<a href="{link(path, reports)}">{name}</a>'
        for name, path in places.items()
        if path.exists()
    ]
    return f"<br>{number}: {', '.join(links)}" if links else f" {number}"
