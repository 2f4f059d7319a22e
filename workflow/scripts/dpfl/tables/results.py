"""Finished runs as tables: one row per run, or one row per round, with the cell they belong to.

A study is the JSON object that the workflow hands to its drivers. It has a name, title, dataset,
kind, delta, margin, demonstrates, baseline and cells. A cell lists its runs in the order of its
seeds.
"""

import csv
from collections.abc import Container, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfl import plugins
from dpfl.base import files, yaml_file
from dpfl.base.errors import UserError
from dpfl.seeds import audits, outcomes
from dpfl.tuning.parts import chance

Study = dict[str, Any]
SCHEMA = plugins.WORKFLOW / "schemas" / "tables.yaml"


class NotKeptError(UserError):
    """Kept runs lack what is asked for."""


OWN = frozenset({"rate", "noise", "epsilon", "delta"})
"""Settings that a table of runs or cells has a column for, whether they vary or not."""


def number(value: float | str | None) -> float:
    """Read a JSON number, where "inf" is infinity and null is not a number."""
    return np.nan if value is None else float(value)


def variant_text(variant: dict[str, Any], without: str = "") -> str:
    """Return a variant as text, such as `state=reset` or `clip_norm=0.1`, all but one key of it."""
    return ", ".join(f"{key}={value}" for key, value in variant.items() if key != without)


def named(cell: dict[str, Any]) -> str:
    """Return the name of a cell: its method, its variant and its budget."""
    variant = variant_text(cell["variant"])
    return ", ".join(filter(None, [cell["method"], variant, f"ε = {cell['epsilon']}"]))


def varied(study: Study) -> list[str]:
    """Return the settings that tell a study's cells apart."""
    return list(dict.fromkeys(key for cell in study["cells"] for key in cell["variant"]))


def settings(study: Study) -> list[str]:
    """Return those of them that no table has a column for anyway, such as the rate."""
    return [key for key in varied(study) if key not in OWN]


def setting_columns(study: Study, cell: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a cell by column, None for those it does not have."""
    return {key: cell["variant"].get(key) for key in settings(study)}


def head(study: Study, cell: dict[str, Any]) -> dict[str, Any]:
    """Return what every table says of a cell: whose it is, and all that tells it apart."""
    return {
        **cell["variant"],
        **about(study),
        **{key: cell[key] for key in ("method", "label", "unit")},
        "epsilon": number(cell["epsilon"]),
    }


@cache
def declared(kind: str) -> dict[str, list[str]]:
    """Return the columns that every table of a kind has, by its schema: types and meanings."""
    return yaml_file.read(SCHEMA, SCHEMA.name)["kinds"][kind]


def table(
    kind: str, rows: Sequence[dict[str, Any]], last: Sequence[str] = (), before: str = "epsilon"
) -> pd.DataFrame:
    """Return rows as a table of a kind: what else they have are settings, but for the `last`.

    A setting has a column of its own, `before` that of this name.
    """
    own = list(declared(kind))
    at, known = own.index(before), {*own, *last}
    settings = dict.fromkeys(key for row in rows for key in row if key not in known)
    columns = [*own[:at], *settings, *own[at:], *last]
    return pd.DataFrame(rows, columns=columns, dtype=object).infer_objects()


def of_optimizers(names: Container[str] | None = None) -> list[str]:
    """Return the columns that some optimizers, or all, add to a table of cells."""
    known = (n for n in plugins.names("optimizers") if names is None or n in names)
    found = (plugins.constant("optimizers", name, "COLUMNS") for name in known)
    return list(dict.fromkeys(column for own in found for column in own))


def without(runs: pd.DataFrame, keys: list[str], *left: str) -> pd.Series:
    """Return what the settings of each row but some of them are, as text."""
    kept = [key for key in keys if key not in left]
    values = runs[kept].to_dict("records") or [{}] * len(runs)  # pandas 3.0: none of no columns
    known = ({k: v for k, v in row.items() if not pd.isna(v)} for row in values)
    return pd.Series([variant_text(row) for row in known], runs.index, dtype=str)


def numeric_keys(study: Study) -> list[str]:
    """Return what a study varies in numbers: keys with more than one value, all of them numbers."""
    variants = [cell["variant"] for cell in study["cells"]]
    found = {key: {own[key] for own in variants if key in own} for key in varied(study)}
    return [
        key
        for key, values in found.items()
        if len(values) > 1 and all(isinstance(value, int | float) for value in values)
    ]


def same_runs(study: Study) -> list[list[int]]:
    """Return the cells in groups that share all their runs, each in the order of the cells."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, cell in enumerate(study["cells"]):
        groups.setdefault(tuple(cell["runs"]), []).append(index)
    return list(groups.values())


def about(study: Study) -> dict[str, str]:
    """Return what every table says of a study; `unit` is whom epsilon protects."""
    unit = study["cells"][0]["unit"]
    return {"study": study["name"], "dataset": study["dataset"], "unit": unit}


def frame(study: Study, runs_dir: Path) -> pd.DataFrame:
    """Return one row per run of every cell; accuracies in percent.

    A run without a finite accuracy counts as guessing; `trained` marks the runs of a cell that did
    not fail (`seeds.outcomes`). `certified` holds for a cell if every run has a certificate, or no
    budget to certify. `refuted` holds if an audit refutes the certificate or the claim of any run.
    Every setting that the study varies has a column, None where a cell does not have it.
    """
    rows = [
        own | setting_columns(study, study["cells"][own["cell"]]) | _outcome(path)
        for own, path in _runs(study, runs_dir)
    ]
    table = _with_objects(rows, settings(study))
    unproven = np.isfinite(table["epsilon"]) & table["eps_certified"].isna()
    guess, level = chance.guessing(study["dataset"]), chance.level(study["dataset"])
    ended, train = np.isfinite(table["accuracy"]), table["train_accuracy"]
    table = table.assign(
        accuracy=table["accuracy"].where(ended, guess),
        train_accuracy=train.where(ended | np.isfinite(train), guess),
        certified=~unproven.groupby(table["cell"]).transform("any"),
        refuted=audits.refuted(table),
    )
    highest = table["highest"].mask(table["diverged"] | ~ended)
    return table.assign(trained=outcomes.trained(highest, level)).drop(columns="highest")


def trajectories(study: Study, runs_dir: Path, name: str) -> pd.DataFrame:
    """Return `metrics` or `rates` of every run, one row per round; accuracies as fractions.

    NotKeptError where a run has none: kept runs of older folders.
    """
    paths = [path / f"{name}.csv" for _, path in _runs(study, runs_dir)]
    if missing := [path for path in paths if not path.exists()]:
        raise NotKeptError(f"the curves of {len(missing)} runs")
    proofs = frame(study, runs_dir).groupby("cell")[["certified", "refuted"]].first()
    tables = [
        files.read_table(path / f"{name}.csv").assign(**own, **proofs.loc[own["cell"]])
        for own, path in _runs(study, runs_dir)
    ]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or tables[:1], ignore_index=True)


def audit(found: dict[str, Any] | None) -> dict[str, Any]:
    """Return what one run's audit says, the block `audit` of its summary; older ones have none."""
    known = found or {"status": audits.NOT_AUDITED}
    return {
        "eps_audit_lb": number(known.get("epsilon")),
        "audit_ceiling": number(known.get("ceiling")),
        "audit_level": number(known.get("level")),
        "audit_estimator": known.get("estimator") or "",
        "audit_status": known["status"],
        "audit_broken": tuple(known.get("broken", ())),
        "audit_blind": tuple(known.get("blind", ())),
    }


def summaries(study: Study, runs_dir: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the summary of every run, with the number of its cell."""
    for own, path in _runs(study, runs_dir):
        yield own["cell"], files.read_json(path / "summary.json")


def _with_objects(rows: list[dict[str, Any]], keys: list[str]) -> pd.DataFrame:
    """Make a table whose settings stay what they are: 10 beside None or 0.5 is no 10.0."""
    columns = {k: [row[k] for row in rows] for k in keys}
    mixed = {k: v for k, v in columns.items() if len(set(map(type, v))) > 1}
    return pd.DataFrame(rows).assign(**{k: pd.Series(v, dtype=object) for k, v in mixed.items()})


def _runs(study: Study, runs_dir: Path) -> Iterator[tuple[dict[str, Any], Path]]:
    """Yield what the study says of every run, and where it lies."""
    for index, cell in enumerate(study["cells"]):
        own = {key: cell[key] for key in ("method", "label")}
        own |= {"variant": variant_text(cell["variant"]), "epsilon": number(cell["epsilon"])}
        own |= {"unit": cell["unit"], "tuning": cell.get("tuning", ""), "cell": index}
        for run, seed in zip(cell["runs"], cell["seeds"], strict=True):
            yield own | {"run": run, "seed": seed}, Path(runs_dir) / run


def _curve(path: Path) -> list[float]:
    """Return the finite test accuracies of a run by round; [] where no curve is kept."""
    if not (path / "metrics.csv").exists():
        return []
    lines = files.read(path / "metrics.csv", lambda content: content.read().decode().splitlines())
    found = [float(row["test_accuracy"] or "nan") for row in csv.DictReader(lines)]
    return [value for value in found if np.isfinite(value)]


def _outcome(path: Path) -> dict[str, Any]:
    """Read what one run's summary says."""
    summary = files.read_json(path / "summary.json")
    optimizer, belief = summary["settings"]["optimizer"], summary["belief"] or {}
    return {
        "accuracy": 100 * number(summary["final_test_accuracy"]),
        "highest": 100 * max(_curve(path) or [number(summary["final_test_accuracy"])]),
        "train_accuracy": 100 * number(summary.get("final_train_accuracy")),
        "validation_accuracy": 100 * number(summary["final_validation_accuracy"]),
        "diverged": bool(summary["diverged"]),
        "eps_claimed": number(summary["eps_claimed"]),
        "eps_certified": number(summary["eps_certified"]),
        "eps_accounted": number(summary["epsilon_spent"]),
        "reasons": "; ".join(summary.get("eps_certified_reasons") or []),
        **audit(summary.get("audit")),
        "moved": number(summary.get("moved")),
        "comparable": summary.get("adjacency_claimed") in (None, summary["adjacency"]),
        "adjacency": summary["adjacency"] or "",
        "accountant": summary["accountant"] or "",
        "noise": summary["noise"] or "",
        "estimator": summary["settings"]["mechanism"]["estimator"],
        "algorithm": optimizer["algorithm"],
        "rate_key": optimizer["rate_key"],
        "rate": number(optimizer["rate"]),
        **{name: belief.get(name) for name in of_optimizers()},
    }
