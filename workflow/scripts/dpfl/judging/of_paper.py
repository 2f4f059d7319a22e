"""The claims of one paper judged, and what it printed beside what was run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from dpfl.base import files
from dpfl.judging import claims, evidence, judge, published, records
from dpfl.papers import folder
from dpfl.plugins import analyses
from dpfl.tables import results

TABLES = ("claims", "published")


def write(outline: dict[str, Any], home: Path) -> None:
    """Write `home`/claims/{paper}/claims.csv and published.csv.

    Reads the studies of the outline with their runs, and the tables of its analyses.
    """
    key, runs = outline["key"], home / "runs"
    studies = [files.read_json(home / "studies" / f"{name}.json") for name in outline["studies"]]
    ran = {study["name"]: (study, results.frame(study, runs)) for study in studies}
    computed = {name: _tables(home, name, own) for name, own in outline["analyses"].items()}
    priced = dict(_priced(outline["analyses"], computed))
    printed = published.table(key, ran.values(), priced)
    known = evidence.Known(key, ran, computed, printed, runs, outline.get("unfinished", {}))
    judged = [
        judge.judge(claim, evidence.of(claim, known))
        for claim in folder.load(key).about.get("claims", [])
    ]
    found = pd.concat(judged, ignore_index=True) if judged else pd.DataFrame(columns=claims.COLUMNS)
    _write({"claims": found, "published": printed}, home / "claims" / key)


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


def _tables(home: Path, name: str, found: dict) -> dict[str, pd.DataFrame]:
    """Read the tables of an analysis by their suffixes."""
    plugin = analyses.load(name.split("/")[0], found["uses"])
    stems = {suffix: f"{name}_{suffix}" if suffix else name for suffix in plugin.TABLES}
    return {
        suffix: files.read_table(home / "tables" / f"{stem}.csv") for suffix, stem in stems.items()
    }


def _priced(outlined: dict, computed: dict[str, dict]) -> Iterator[tuple[str, Any]]:
    """Yield the analyses that price printed losses, with what stands beside these."""
    for name, found in outlined.items():
        plugin = analyses.load(name.split("/")[0], found["uses"])
        if hasattr(plugin, "beside_print"):
            yield name, plugin.beside_print(computed[name])
