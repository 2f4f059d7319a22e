"""Judges results of other software: a table with a row per run, by the rules of orderings.

Columns: `method`, `epsilon` (a number or inf), `seed` and `accuracy` (of a test set, in percent).
Two more may be there: `dataset`, and `failed` (true or false: the run did not train).

Runs are paired by seed. So a seed has to mean the same data, initial weights and batches for both
methods, and each seed is there for both, or neither. How runs were tuned is not known, nor whether
an epsilon is right: privacy is `as stated`.
"""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.contracts import bounds
from dpfl.judging import judge, records, rows
from dpfl.judging.evidence import Evidence
from dpfl.papers import published
from dpfl.words.forms import listed
from dpfl.words.vocabulary import AS_STATED

COLUMNS = ("method", "epsilon", "seed", "accuracy")
KEY = ("dataset", "method", "epsilon", "seed")
LIMITS = {
    **{"epsilon": "number > 0", "seed": "whole >= 0", "accuracy": "number in [0, 100]"},
    "failed": "one of true, false",
}
UNAUDITED = {"eps_certified": np.nan, "eps_audit_lb": np.nan, "audit_level": np.nan}
UNAUDITED |= {"audit_ceiling": np.nan, "audit_estimator": "", "audit_status": "not audited"}
UNAUDITED |= {"variant": "", "unit": "example", "tuning": "", "audit_broken": ()}
"""What is the same of all runs here: nobody has audited them, or says how they were tuned."""


@dataclass(frozen=True)
class Outside:
    """A table of results, and what is asked of it; the margin is in points."""

    path: Path
    better: str
    worse: Sequence[str]
    margin: float

    def judged(self) -> dict[str, list[rows.Row]]:
        """Return the rows of the claim by data set, each with the conjunction first.

        UserError for a table that `read` refuses, a method it has not, and seeds without a pair.
        """
        runs = read(self.path)
        for line in unknown([self.better, *self.worse], [*runs["method"].unique()], "no method"):
            raise UserError(f"{self.path}: {line}")
        return {name: [*self._rows(own)] for name, own in runs.groupby("dataset", sort=False)}

    def document(self, judged: dict[str, list[rows.Row]], commit: str | None) -> dict[str, Any]:
        """Return the rows as records, valid against the schema of claims."""
        settings = json.dumps([self.better, *self.worse, self.margin]).encode()
        made = [self._record(*of) for of in judged.items()]
        return records.document(made, "not run here", commit, settings)

    def _rows(self, runs: pd.DataFrame) -> Iterator[rows.Row]:
        """Yield the rows on one data set."""
        self._require_pairs(runs)
        claim = {"id": f"{self.better}-is-better", "kind": "ordering", "worse": [*self.worse]}
        study = {"name": self.path.name, "dataset": runs["dataset"].iloc[0], "margin": self.margin}
        known = Evidence(self.path.stem, study, runs, pd.DataFrame, pd.DataFrame())
        for row in judge.at_looks(claim | {"better": self.better}, known):
            stated = {} if row["eps_claimed"] == math.inf else {"privacy": AS_STATED}
            yield row | {"privacy_reasons": "", "tuning": ""} | stated

    def _require_pairs(self, runs: pd.DataFrame) -> None:
        """Raise a UserError for seeds that one of two methods has at an epsilon of both."""
        seeds = runs.groupby(["method", "epsilon"])["seed"].agg(set)
        for (method, epsilon), own in seeds.items():
            others = self.worse if method == self.better else [self.better]
            for other in others if method in (self.better, *self.worse) else ():
                if alone := own - seeds.get((other, epsilon), own):
                    told = f"{method} has seeds {listed(sorted(alone))} at epsilon {epsilon:g}"
                    raise UserError(f"{self.path}: {told}, {other} has not; expected pairs")

    def _record(self, dataset: str, found: list[rows.Row]) -> dict[str, Any]:
        says = f"{self.better} is more accurate than {', '.join(self.worse)}"
        source = {"key": self.path.stem, "title": self.path.name, "citation": "", "doi": None}
        claim = {"id": found[0]["claim"], "where": dataset, "quote": says, "translation": None}
        claim |= {"kind": "ordering", "study": None}
        return records.record(source, claim, rows.table(found), {self.path.name: self.path})


def read(path: Path) -> pd.DataFrame:
    """Return the runs of a table; UserError, with the line, for a row that cannot be used.

    Such are a value out of its bounds, and a run that is there twice. A table of fractions in place
    of percent is refused as a whole.
    """
    found: dict[tuple, dict[str, Any]] = {}
    for line, row in published.lines(path, str(path), COLUMNS):
        own = _run(f"{path}, line {line}", row)
        first = found.setdefault(tuple(own[key] for key in KEY), own | {"line": line})
        if first["line"] != line:
            raise UserError(f"{path}, line {line}: says again what line {first['line']} says")
    if not found:
        raise UserError(f"{path}: no run, expected a row for each")
    runs = pd.DataFrame(found.values())
    if runs["accuracy"].max() <= 1:
        raise UserError(f"{path}: no accuracy is above 1, expected percent")
    cells = runs.groupby(["dataset", "method", "epsilon"], sort=False).ngroup()
    return runs.assign(cell=cells, eps_claimed=runs["epsilon"])


def _run(where: str, row: dict[str, str]) -> dict[str, Any]:
    """Return a run; one that failed needs no accuracy."""
    failed = row.get("failed") or "false"
    numbers = {key: published.number(row[key]) for key in ("epsilon", "accuracy")}
    numbers["seed"] = int(row["seed"]) if row["seed"].isdecimal() else math.nan
    given = {k: row[k] if math.isnan(of) else of for k, of in numbers.items()} | {"failed": failed}
    if given["epsilon"] == math.inf:
        given.pop("epsilon")
    if failed == "true" and not row["accuracy"]:
        given.pop("accuracy")
    bounds.check(where, LIMITS, given)
    if not row["method"].strip():
        raise UserError(f"{where}: method is empty, expected a name")
    run = {"method": row["method"], "dataset": row.get("dataset") or "the data", **numbers}
    name = "-".join(str(run[key]) for key in KEY)
    return UNAUDITED | run | {"trained": failed == "false", "run": name}
