"""What the report's page shows, computed from the tables: the template only places it."""

import base64
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl import files
from dpfl.report import budget_words, captions, narrative, rate_words, verdict_words
from dpfl.report.reader import Folder, shown_width
from dpfl.tables import rendering, results
from dpfl.tables.rendering import known

KINDS = {"compare": 0, "rates": 1, "variants": 2}
TONES = {
    **dict.fromkeys(("replicated", "wins", "gains"), "good"),
    **dict.fromkeys(("not replicated", "does not win", "loses"), "bad"),
    "no difference": "even",
}
"""Every verdict that decides nothing is drawn as open."""
SIDES = {"baseline": (-1, 1)}
"""Half the margin matters on one side of zero, but for questions with two."""


def section(study: dict, folder: Folder, figures: list[Path], home: Path) -> dict[str, Any]:
    """Return everything the page shows of one study; links are relative to the page's folder."""
    name, cells = study["name"], folder.cells(study["name"])
    compared, ranges = folder.comparisons(name), folder.ranges(name)
    heads, lines = rendering.grid(cells)
    return {
        "study": study,
        "headline": _headline(study, compared),
        "unit": results.unit_of(study),
        "scope": narrative.scope(study, cells),
        "scores": scores(compared, study["margin"]),
        "belief": verdict_words.belief(study, compared),
        "privacy": narrative.privacy(cells),
        "notes": [
            *narrative.units(cells),
            *narrative.assumptions(cells),
            narrative.selection(study),
        ],
        "grid": {"heads": heads, "lines": lines} if study["kind"] != "rates" else None,
        "findings": _findings(study, cells, ranges),
        "figures": [picture(path, home) for path in figures],
        "tables": _tables(folder, name, home),
    }


def analysis(
    name: str, title: str, folder: Folder, figures: list[Path], home: Path
) -> dict[str, Any]:
    """Return everything the page shows of a study that trains nothing."""
    tables = folder.analyses(name)
    heads, lines = folder.grid(tables[0]) if tables else ([], [])
    return {
        "name": name,
        "title": title,
        "grid": {"heads": heads, "lines": lines},
        "figures": [picture(path, home, "analyses") for path in figures],
        "tables": [_links(folder, stem, stem.removeprefix(f"{name}_"), home) for stem in tables],
    }


def overview(studies: list[dict]) -> dict[str, list]:
    """Return one line per study; the epsilons of each unit have a column of their own."""
    units = [u for u in narrative.UNITS if any(results.unit_of(s) == u for s in studies)]
    heads = ["study", "data set", "seeds", *(rendering.head_of("ε", unit) for unit in units)]
    lines = []
    for study in studies:
        budgets = sorted({results.number(cell["epsilon"]) for cell in study["cells"]})
        shown, own = ", ".join(rendering.number(e, "{:g}") for e in budgets), results.unit_of(study)
        columns = [shown if unit == own else "" for unit in units]
        lines.append([study["title"], study["dataset"], str(len(study["seeds"])), *columns])
    return {"heads": heads, "lines": lines}


def scores(compared: pd.DataFrame, margin: float) -> list[dict[str, Any]]:
    """Return the comparisons with their intervals placed on one scale, in percent of its width."""
    ends = compared[["difference", "ci_low", "ci_high"]].to_numpy(dtype=float)
    reach = max([margin, *abs(ends[pd.notna(ends)])]) * 1.08

    def place(value: float) -> float | None:
        return round(50 + 50 * value / reach, 2) if known(value) else None

    return [
        {
            "kind": row["kind"],
            "better": row["better"],
            "worse": row["worse"],
            "variant": row["variant"],
            "epsilons": narrative.listed(row["epsilons"].split()),
            "text": rendering.difference(row),
            "p": rendering.p_equation(row["p_holm"]) if known(row["p_holm"]) else "",
            "verdict": row["verdict"],
            "not_certified": row["not_certified"],
            "tone": TONES.get(row["verdict"], "open"),
            "at": place(row["difference"]),
            "low": place(row["ci_low"]),
            "high": place(row["ci_high"]),
            "marks": [place(side * margin / 2) for side in SIDES.get(row["kind"], (1,))],
        }
        for _, row in compared.iterrows()
    ]


def picture(path: Path, home: Path, package: str = "plots") -> dict[str, Any]:
    """Return a figure as data that the page can hold, with its caption and a link to its PDF."""
    data = base64.b64encode(path.read_bytes()).decode()
    pdf = path.with_suffix(".pdf")
    return {
        "name": path.stem,
        "width": shown_width(path),
        "caption": captions.of(path.stem, package),
        "data": f"data:image/png;base64,{data}",
        "pdf": link(pdf, home) if pdf.exists() else "",
    }


def link(path: Path, home: Path) -> str:
    """Return a path relative to the page's folder."""
    return Path(os.path.relpath(path, home)).as_posix()


def ordered(studies: Iterable[dict]) -> list[dict]:
    """Sort studies for reading: comparisons first, then rates, then variants."""
    return sorted(studies, key=lambda study: KINDS.get(study["kind"], len(KINDS)))


def provenance(studies: list[dict], runs_dir: Path) -> dict[str, Any]:
    """Return how many runs stand behind the page, and the versions and hardware they name."""
    runs = list(dict.fromkeys(r for s in studies for c in s["cells"] for r in c["runs"]))
    summaries = [files.read_json(runs_dir / run / "summary.json") for run in runs]
    return {
        "runs": len(runs),
        "versions": _distinct(summary["versions"] for summary in summaries),
        "hardware": _distinct(summary["hardware"] for summary in summaries),
    }


def _findings(study: dict, cells: pd.DataFrame, ranges: pd.DataFrame) -> list[str]:
    """Return the sentences that the notebooks tell at more length."""
    if study["kind"] == "rates":
        return [rate_words.widest(ranges), *rate_words.inert(ranges), rate_words.fairness(ranges)]
    if study["kind"] == "variants":
        found = [*narrative.variants(cells), *narrative.regimes(cells)]
    else:
        found = narrative.accuracy(cells)
    return [*found, *budget_words.findings(study, cells), narrative.divergence(study, cells)]


def _tables(folder: Folder, name: str, home: Path) -> list[dict[str, Any]]:
    """Return links to the tables of a study that are not empty."""
    result = []
    for suffix, title in (("", "cells"), ("_comparisons", "comparisons"), ("_ranges", "ranges")):
        path = folder.path / "tables" / f"{name}{suffix}.csv"
        if len(path.read_text(encoding="utf-8").splitlines()) > 1:
            result.append(_links(folder, path.stem, title, home))
    return result


def _links(folder: Folder, stem: str, title: str, home: Path) -> dict[str, Any]:
    """Return links to the three forms of a table."""
    paths = [folder.path / "tables" / f"{stem}.{ending}" for ending in ("csv", "md", "tex")]
    links = [{"text": path.suffix[1:], "href": link(path, home)} for path in paths]
    return {"title": title, "links": links}


def _headline(study: dict, compared: pd.DataFrame) -> str:
    """Return the questions of a study with their answers, nothing for one that asks none."""
    claims = (compared["kind"] == "claim").any()
    asked = [verdict_words.headline(study, compared)] if claims else []
    return " ".join(dict.fromkeys([*asked, *budget_words.headline(study, compared)]))


def _distinct(records: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Return the distinct values of each key over many records."""
    found: dict[str, dict[str, None]] = {}
    for record in records:
        for key, value in record.items():
            found.setdefault(key, {})[str(value)] = None
    return {key: ", ".join(values) for key, values in found.items()}
