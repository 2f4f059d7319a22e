"""Judged claims as records that other programs read: workflow/schemas/claims.schema.json."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd

from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.judging.claims import COLUMNS
from dpfl.papers import citation, folder
from dpfl.tables import results

FORMAT = "judged-claims/6"
SCHEMA = Path(__file__).parents[3] / "schemas" / "claims.schema.json"
HEAD = ("paper", "claim", "kind", "study", "runs")
"""What a record says elsewhere than in the values of its parts."""
TOLD = ("id", "where", "quote", "translation", "kind")
"""What a record repeats of a claim."""
COUNTS = ("n", "failed", "needed_n")


def read(path: Path) -> pd.DataFrame:
    """Read claims.csv or published.csv as a judgement wrote it; UserError for a damaged file.

    Texts are texts, also such as `3.10` or `NA`.
    """
    types = results.declared("published") | results.declared("claims")
    as_text = {name: str for name, (kind, _) in types.items() if kind == "string"}
    return files.read_table(path, dtype=as_text, keep_default_na=False, na_values=[""])


def document(
    papers: Sequence[str], judged: pd.DataFrame, home: Path, commit: str | None
) -> dict[str, Any]:
    """Return all records, valid against the schema; UserError naming what is not.

    `judged` is tables/claims.csv, `home` the folder of results, `commit` that of the code.
    """
    config = (home / "config.json").read_bytes()
    return valid(
        {
            "format": FORMAT,
            "scale": json.loads(config)["scale"],
            "commit": commit,
            "settings_sha256": hashlib.sha256(config).hexdigest(),
            "records": [r for paper in papers for r in _records(paper, judged, home)],
        }
    )


def valid(made: dict[str, Any]) -> dict[str, Any]:
    """Return records that fit the schema; UserError naming the first part that does not."""
    for error in jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).iter_errors(made):
        where = ".".join(map(str, error.absolute_path))
        raise UserError(f"claims.json: {where}: {error.message}")
    return made


def _records(paper: str, judged: pd.DataFrame, home: Path) -> Iterator[dict[str, Any]]:
    about = folder.load(paper).about
    known = {claim["id"]: claim for claim in about.get("claims", [])}
    own = judged[judged["paper"] == paper]
    for (name, study), rows in own.groupby(["claim", "study"], sort=False, dropna=False):
        claim, study = known[name], _known(study)
        parts = [values(row) for row in rows.to_dict("records")]
        yield {
            "paper": {
                "key": paper,
                "title": about["title"],
                "citation": citation.full(about),
                "doi": about.get("citation", {}).get("doi"),
            },
            "claim": {key: claim.get(key) for key in TOLD} | {"study": study},
            **{key: parts[0][key] for key in ("verdict", "needs", "privacy")},
            "reason": claim.get("reason"),
            "parts": parts,
            "evidence": list(_evidence(paper, study, home)),
        }


def values(row: dict[str, Any]) -> dict[str, Any]:
    """Return one row of the table as JSON: nothing for what is not known."""
    found = {name: _known(row[name]) for name in COLUMNS if name not in HEAD}
    counts = {name: int(found[name]) for name in COUNTS if found[name] is not None}
    runs = str(_known(row["runs"]) or "").split()
    return found | counts | {"runs": runs}


def _known(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf"
    return None if value == "" else value


def _evidence(paper: str, study: str | None, home: Path) -> Iterator[dict[str, str]]:
    """Yield the files that a verdict rests on, with their digests."""
    name = folder.full_name(paper, study or "")
    tables = home / "tables" / name
    for path in (
        home / "claims" / paper / "claims.csv",
        home / "studies" / f"{name}.json",
        tables.with_name(f"{tables.name}.csv"),
        *sorted(tables.parent.glob(f"{tables.name}_*.csv")),
    ):
        if path.exists():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield {"path": path.relative_to(home).as_posix(), "sha256": digest}
