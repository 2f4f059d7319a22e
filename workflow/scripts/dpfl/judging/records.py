"""Judged claims as records that other programs read: workflow/schemas/claims.schema.json."""

import hashlib
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.base.files import digest, read_table
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
    return read_table(path, dtype=as_text, keep_default_na=False, na_values=[""])


def of_results(
    papers: Sequence[str], judged: pd.DataFrame, home: Path, commit: str | None
) -> dict[str, Any]:
    """Return all records of a folder of results, valid against the schema.

    `judged` is tables/claims.csv, `home` the folder of results, `commit` that of the code.
    """
    config = (home / "config.json").read_bytes()
    own = [record for paper in papers for record in _records(paper, judged, home)]
    return document(own, json.loads(config)["scale"], commit, config)


def document(
    records: list[dict[str, Any]], scale: str, commit: str | None, settings: bytes
) -> dict[str, Any]:
    """Return records that fit the schema; UserError naming the first part that does not."""
    made = {"format": FORMAT, "scale": scale, "commit": commit, "records": records}
    made["settings_sha256"] = hashlib.sha256(settings).hexdigest()
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
        source = {"key": paper, "title": about["title"], "citation": citation.full(about)}
        source["doi"] = about.get("citation", {}).get("doi")
        told = {key: claim.get(key) for key in TOLD} | {"study": study}
        used = [(path.relative_to(home).as_posix(), path) for path in _used(paper, study, home)]
        yield record(source, told, rows, dict(used)) | {"reason": claim.get("reason")}


def record(paper: dict, claim: dict, rows: pd.DataFrame, files: dict[str, Path]) -> dict[str, Any]:
    """Return the record of a judged claim, with the files that it rests on, by name."""
    parts = [_values(row) for row in rows.to_dict("records")]
    return {
        "paper": paper,
        "claim": claim,
        **{key: parts[0][key] for key in ("verdict", "needs", "privacy")},
        "reason": None,
        "parts": parts,
        "evidence": [{"path": n, "sha256": digest(path)} for n, path in files.items()],
    }


def _values(row: dict[str, Any]) -> dict[str, Any]:
    """Return one row of the table as JSON: nothing for what is not known."""
    found = {name: _known(row[name]) for name in COLUMNS if name not in HEAD}
    counts = {name: int(found[name]) for name in COUNTS if found[name] is not None}
    runs = str(_known(row["runs"]) or "").split()
    return found | counts | {"runs": runs}


def _known(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else "inf"
    return None if value == "" else value


def _used(paper: str, study: str | None, home: Path) -> Iterator[Path]:
    """Yield the files that a verdict rests on."""
    name = folder.full_name(paper, study or "")
    tables = home / "tables" / name
    found = [home / "claims" / paper / "claims.csv", home / "studies" / f"{name}.json"]
    found += [tables.with_name(f"{tables.name}.csv")]
    found += sorted(tables.parent.glob(f"{tables.name}_*.csv"))
    yield from (path for path in found if path.exists())
