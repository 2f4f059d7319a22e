"""The claims of one paper judged, and what it printed beside what was run."""

from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.judging import claims, judge, published, records
from dpfl.judging.evidence import Known
from dpfl.papers import folder
from dpfl.plugins import analyses
from dpfl.tables import trials
from dpfl.words.vocabulary import NOT_RUN

TABLES = ("claims", "published")


def write(outline: dict[str, Any], home: Path) -> None:
    """Write `home`/claims/{paper}/claims.csv and published.csv.

    Reads the studies that judge the paper with their runs, and the tables of its analyses.
    """
    key, runs = outline["key"], home / "runs"
    studies = [files.read_json(home / "studies" / f"{name}.json") for name in outline["judging"]]
    ran = {study["name"]: (study, trials.of_runs(study, home)) for study in studies}
    computed, priced = {}, {}
    for name, own in outline["analyses"].items():
        plugin = analyses.load(key, own["uses"])
        computed[name] = {s: _table(home, name, s) for s in plugin.TABLES}
        if hasattr(plugin, "beside_print"):
            priced[name] = plugin.beside_print(computed[name])
    printed = published.table(key, ran.values(), priced)
    known = Known(key, ran, computed, printed, runs, outline.get("unfinished", {}))
    named = folder.load(key).about.get("claims", [])
    judged = [rows for claim in named for rows in _by_study(claim, known)]
    found = pd.concat(judged, ignore_index=True) if judged else pd.DataFrame(columns=claims.COLUMNS)
    _write({"claims": found, "published": printed}, home / "claims" / key)


def _by_study(claim: dict[str, Any], known: Known) -> list[pd.DataFrame]:
    """Judge a claim by each of its studies, without those that have run nothing of it.

    If none has, the first one says so.
    """
    found = [judge.judge(one, known.evidence(one)) for one in claims.by_study(claim)]
    return [rows for rows in found if (rows["needs"] != NOT_RUN.needs).any()] or found[:1]


def together(papers: list[str], home: Path) -> pd.DataFrame:
    """Write `home`/tables/claims.csv and published.csv, of all papers; return the claims.

    A coordinate that only some papers have is empty for the others.
    """
    tables = {
        name: pd.concat([records.read(home / "claims" / p / f"{name}.csv") for p in papers])
        for name in TABLES
    }
    _write(tables, home / "tables")
    return tables["claims"]


def _write(tables: dict[str, pd.DataFrame], where: Path) -> None:
    for name, table in tables.items():
        files.write_table(where / f"{name}.csv", table)


def _table(home: Path, name: str, suffix: str) -> pd.DataFrame:
    """Read a table of an analysis."""
    stem = "_".join(filter(None, (name, suffix)))
    return files.read_table(home / "tables" / f"{stem}.csv")
