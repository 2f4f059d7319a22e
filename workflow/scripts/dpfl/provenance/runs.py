"""The runs behind kept results, one row each: those of cells, and the trials that tuned them."""

import csv
import gzip
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from dpfl.base import files, machine
from dpfl.planning.methods import paths, setting
from dpfl.planning.plan import Plan, of_paper
from dpfl.tables.results import variant_text

FILE = "runs.csv.gz"
GRID = "rates"
"""The kind of studies that train trials alone."""
NAME = ("study", "method", "variant", "run")


@dataclass(frozen=True)
class Finished:
    """A finished run in a folder of results."""

    name: str
    results: Path

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.results / "runs" / self.name

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Its summary; UserError if it is not whole."""
        return files.read_json(self.folder / "summary.json")

    @cached_property
    def digests(self) -> dict[str, str]:
        """The digests of its files."""
        return files.sums(self.folder / files.SUMS)

    @cached_property
    def cost(self) -> dict[str, str]:
        """What its training cost and when it ended; {} if nobody wrote it down."""
        path = self.results / "benchmarks" / "train" / f"{self.name}.tsv"
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return {}
        return next(csv.DictReader(io.StringIO(text), delimiter="\t"), {})

    def tuned(self, planned: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that the plan left to a tuning, by path: there it names no value."""
        settings = self.summary["settings"]
        own = {path: setting(settings, path) for path in paths(settings)}
        return {path: value for path, value in own.items() if value != setting(planned, path)}


def rows(plan: Plan, paper: str, results: Path) -> list[dict[str, Any]]:
    """Return a row for every run of a paper's studies and every trial, each once for a variant."""
    found: dict[tuple, dict[str, Any]] = {}
    for name in of_paper(plan.studies, paper):
        study = plan.studies[name]
        role = "trial" if study["kind"] == GRID else "final"
        for cell in study["cells"]:
            for own in _of_cell(name, cell, role, plan, results):
                found.setdefault(tuple(own[key] for key in NAME), own)
    return list(found.values())


def chosen(plan: Plan, paper: str, results: Path) -> list[dict[str, Any]]:
    """Return the tuned values of every cell of a paper's studies that has some."""
    found = []
    for name in of_paper(plan.studies, paper):
        for cell in plan.studies[name]["cells"]:
            run = cell["runs"][0]
            values = Finished(run, results).tuned(planned(plan, run)) | cell.get("kept", {})
            if values:
                place = {key: cell[key] for key in ("method", "variant", "epsilon")}
                found.append({"study": name.split("/")[1], **place, "values": values})
    return found


def planned(plan: Plan, run: str) -> dict[str, Any]:
    """Return the planned settings of a run, as JSON holds them."""
    return json.loads(json.dumps(plan.runs[run]["settings"]))


def write(path: Path, table: Iterable[dict[str, Any]], columns: list[str]) -> None:
    """Write rows as a packed CSV file: equal rows give equal bytes."""
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows(table)
    path.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))


def _of_cell(study: str, cell: dict, role: str, plan: Plan, results: Path) -> Iterator[dict]:
    """Yield the rows of a cell: its runs, then the trials that chose their values."""
    head = {"study": study, "method": cell["method"], "variant": variant_text(cell["variant"])}
    trials: dict[str, list[str]] = {}
    for name in cell["runs"]:
        own = Finished(name, results)
        values = own.tuned(planned(plan, name)) | cell.get("kept", {})
        yield head | {"role": role} | _row(own, values)
        tuning = plan.runs[name]["tuning"]
        for trial in plan.tunings[tuning]["trials"] if tuning else ():
            trials |= {run: list(values) for run in trial["runs"]}
    for name, keys in trials.items():
        own = Finished(name, results)
        tried = {key: setting(own.summary["settings"], key) for key in keys}
        yield head | {"role": "trial"} | _row(own, tried)


def _row(run: Finished, values: dict[str, Any]) -> dict[str, Any]:
    summary = run.summary
    settings = json.dumps(summary["settings"], sort_keys=True)
    return {
        "seed": summary["seed"],
        "epsilon": summary["settings"]["epsilon"],
        "test_accuracy": summary["final_test_accuracy"],
        "validation_accuracy": summary["final_validation_accuracy"],
        "run": run.name,
        "tuned": json.dumps(values) if values else "",
        "settings": hashlib.sha256(settings.encode()).hexdigest(),
        "sources": summary["sources"],
        "metrics": run.digests["metrics.csv"],
        "seconds": run.cost.get("s", ""),
        "ended": run.cost.get("ended", ""),
        "machine": machine.line(summary["hardware"]),
    }
