"""The page of every cell: sortable and filterable without a network, each with its runs."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import itables
import pandas as pd
from itables.javascript import generate_init_offline_itables_html
from markupsafe import Markup, escape

from dpfl.figures import datasets, families
from dpfl.report import markup, values
from dpfl.report.paper import Paper
from dpfl.report.pictures import link
from dpfl.report.reader import Folder
from dpfl.seeds.verdicts import PERCENT
from dpfl.tables import results
from dpfl.words.numerals import counted, known, number, rounded_down, rounded_up

ALWAYS = ("method", "accuracy, %", "ε claimed", "ε certified", "ε audited", "n", "runs")
"""The heads of columns that stand there even if all their values are the same."""
CSV = "cells.csv"
COLUMNS = ["paper", "study", "dataset", "method", "variant", "epsilon", "accuracy", "ci_low"]
COLUMNS += ["ci_high", "n", "trained", "certified", "eps_claimed", "eps_certified", "eps_audited"]
COLUMNS += ["privacy", "unit", "rate_key", "rate", "runs"]
"""Of that file: `runs` are names, `epsilon` is infinite without privacy."""


def body(folder: Folder, papers: Mapping[str, Paper]) -> Markup:
    """Return the table of all cells; a column of one value is told in words."""
    found = cells(folder, papers)
    if not len(found):
        return markup.listing(["This scale runs no study."])
    rows = found.to_dict("records")
    lines = pd.DataFrame([_line(row, folder, papers[row["paper"]]) for row in rows])
    same = [head for head in lines if head not in ALWAYS and lines[head].nunique() == 1]
    told = [Markup(f"{head} {lines[head][0]}") for head in same if lines[head][0]]
    return markup.joined(
        markup.part("heading", "Every cell", 1),
        Markup(generate_init_offline_itables_html(itables.options.dt_bundle)),
        markup.part("more", CSV, "All cells as CSV"),
        Markup("<p>In every cell: {}.</p>").format(Markup("; ").join(told)) if told else "",
        markup.part("scroll", "Every cell", _table(lines.drop(columns=same))),
    )


def csv(folder: Folder, papers: Iterable[str]) -> str:
    """Return all cells as CSV, the names of their runs parted by blanks."""
    found = cells(folder, papers)
    return found.assign(runs=found["runs"].map(" ".join)).to_csv(index=False, lineterminator="\n")


def cells(folder: Folder, papers: Iterable[str]) -> pd.DataFrame:
    """Return a row per cell that has a result, under COLUMNS."""
    rows = [
        row
        | {"paper": key, "study": name.split("/")[1], "accuracy": row["accuracy_mean"]}
        | {"method": row["label"], "runs": cell["runs"]}
        | {"variant": results.variant_text(cell["variant"])}
        for key in papers
        for name in folder.outline(key)["studies"]
        for row, cell in _paired(folder, name)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _paired(folder: Folder, name: str) -> list[tuple[dict, dict]]:
    """Return the rows of a study's table that have a result, each with its cell of the study."""
    rows = values.read(folder.path_of(name)).to_dict("records")
    pairs = zip(rows, folder.study(name)["cells"], strict=False)  # what did not finish comes last
    return [(row, cell) for row, cell in pairs if known(row["n"]) and row["n"] > 0]


def _table(shown: pd.DataFrame) -> Markup:
    with pd.option_context("display.float_format", lambda value: number(value, "{:g}")):
        table = itables.to_html_datatable(
            shown,
            caption=f"{counted(len(shown), 'cell')}: click a head to sort",
            connected=False,
            display_logo_when_loading=False,
            allow_html=True,
            showIndex=False,
            pageLength=25,
            maxBytes=0,
            classes="display compact",
            style="width:100%",
        )
    return Markup(table)


def _line(row: dict[str, Any], folder: Folder, paper: Paper) -> dict[str, Any]:
    """Return a cell by the heads of its columns, as HTML where it is text."""
    certified, audited = row["eps_certified"], row["eps_audited"]
    private = math.isfinite(row["epsilon"])
    ends = f"{row['ci_low']:.1f} to {row['ci_high']:.1f}" if known(row["ci_low"]) else ""
    return {
        "method": _method(row["method"]),
        "variant": str(escape(row["variant"])),
        "accuracy, %": f"{row['accuracy']:.2f}" if known(row["accuracy"]) else "",
        f"{PERCENT} interval": ends,
        "ε claimed": row["epsilon"],
        "ε certified": (rounded_up(certified) if known(certified) else "no proof") * private,
        "ε audited": f"≥ {rounded_down(audited)}" if known(audited) else "",
        "n": int(row["n"]),
        "trained": int(row["trained"]),
        "which rate": str(escape(row["rate_key"])),
        "rate": row["rate"],
        "data": str(escape(datasets.title(row["dataset"]))),
        "study": str(escape(row["study"])),
        "paper": str(escape(paper.short)),
        "unit": row["unit"] * private,
        "runs": _runs(row["runs"], folder),
    }


def _method(name: str) -> str:
    """Return what a method is called, with its name beside: here are those of all papers."""
    called = families.title(name)
    beside = f" <small>{escape(name)}</small>" if called.lower() != name else ""
    return f"{escape(called)}{beside}"


def _runs(runs: list[str], folder: Folder) -> str:
    """Return the runs of a cell, folded; of those that do not lie here, where they are listed."""
    found = [links for run in runs if (links := _links(run, folder))]
    shown = "".join(f"<li>{links}</li>" for links in found)
    here = f"<details><summary>{counted(len(found), 'run')}</summary><ol>{shown}</ol></details>"
    away = len(runs) - len(found)
    listed = f'<a href="{CSV}">{counted(away, "run")}, listed</a>'
    return here * bool(found) + listed * bool(away)


def _links(run: str, folder: Folder) -> str:
    """Return links to the files of a run that lie here."""
    home = folder.path / "runs" / run
    places = {"settings": home / "summary.json", "curve": home / "metrics.csv"}
    places["log"] = folder.path / "logs" / "train" / f"{run}.log"
    found = {name: link(path, folder.reports) for name, path in places.items() if path.exists()}
    return ", ".join(f'<a href="{address}">{name}</a>' for name, address in found.items())
