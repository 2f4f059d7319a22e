"""Every cell of the studies of some papers, as one table: settings, result, epsilons, runs."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dpfl.report import reader
from dpfl.report.reader import Folder
from dpfl.words.numerals import known

COLUMNS = ("paper", "study", "dataset", "method", "variant", "epsilon", "accuracy", "ci_low")
COLUMNS += ("ci_high", "n", "trained", "certified", "eps_claimed", "eps_certified", "eps_audited")
COLUMNS += ("unit", "rate", "verdict", "runs")


def of_papers(folder: Folder, papers: Iterable[str]) -> pd.DataFrame:
    """Return a row per cell; `runs` names its runs, `epsilon` is infinite without privacy."""
    rows = [
        row
        for key in papers
        for name in folder.outline(key)["studies"]
        for row in _rows(folder, key, name)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def ends(row: Mapping[str, Any]) -> str:
    """Return the interval of a cell as readers see it, nothing where seeds are too few for one."""
    return f"{row['ci_low']:.1f} to {row['ci_high']:.1f}" if known(row["ci_low"]) else ""


def reasons(folder: Folder, papers: Iterable[str]) -> dict[str, list[str]]:
    """Return why each method without a certificate has none, by the method's name.

    Each reason by itself from a run's own summary; of kept results, without runs, all in one text.
    """
    found: dict[str, dict[str, None]] = {}
    for key in papers:
        for name in folder.outline(key)["studies"]:
            for row, cell in _paired(folder, name):
                if row["reasons"] and math.isfinite(row["eps_claimed"]):
                    own = found.setdefault(row["label"], {})
                    own.update(dict.fromkeys(_of_run(folder, cell) or [row["reasons"]]))
    return {method: list(own) for method, own in found.items()}


def _rows(folder: Folder, paper: str, name: str) -> list[dict[str, Any]]:
    return [
        row
        | {"paper": paper, "study": name.split("/")[1], "accuracy": row["accuracy_mean"]}
        | {"method": row["label"], "runs": cell["runs"]}
        for row, cell in _paired(folder, name)
    ]


def _paired(folder: Folder, name: str) -> list[tuple[dict, dict]]:
    """Return the rows of a study's table that have a result, each with its cell of the study."""
    rows = reader.table(folder.path_of(name)).to_dict("records")
    cells = folder.study(name)["cells"]
    pairs = zip(rows, cells, strict=False)  # rows of what did not finish come after the cells
    return [(row, cell) for row, cell in pairs if known(row["n"]) and row["n"] > 0]


def _of_run(folder: Folder, cell: dict) -> list[str]:
    """Return the reasons that the first run of a cell states, none if no run lies here."""
    found = folder.summary(cell["runs"][0]) if cell["runs"] else None
    return (found or {}).get("eps_certified_reasons") or []
