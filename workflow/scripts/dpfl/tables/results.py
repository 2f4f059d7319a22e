"""Finished runs as tables: one row per run, or one row per round, with the cell they belong to.

A study is the JSON object that the workflow hands to its drivers: name, title, dataset, kind,
delta, margin, demonstrates, baseline and cells. A cell lists its runs in the order of its seeds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfl import plugins
from dpfl.base import files
from dpfl.base.errors import UserError
from dpfl.seeds import audits, outcomes
from dpfl.tables import fairness

Study = dict[str, Any]


class NotKeptError(UserError):
    """Kept runs lack what is asked for."""


CHANCE = 1.5
"""Times the accuracy of guessing; a network that always gives the commonest class is at chance."""

OWN = frozenset({"rate", "noise", "epsilon", "delta"})
"""Settings that a table of runs or cells has a column for, whether they vary or not."""


def number(value: float | str | None) -> float:
    """Read a JSON number, where "inf" is infinity and null is not a number."""
    return np.nan if value is None else float(value)


def chance(dataset: str) -> float:
    """Return the accuracy of guessing, in percent."""
    return 100 / plugins.load("data", dataset).CLASSES


def chance_level(dataset: str) -> float:
    """Return the accuracy up to which a network is at chance, in percent."""
    return CHANCE * chance(dataset)


def variant_text(variant: dict[str, Any], without: str = "") -> str:
    """Return a variant as text, such as `state=reset` or `clip_norm=0.1`, all but one key of it."""
    return ", ".join(f"{key}={value}" for key, value in variant.items() if key != without)


def named(cell: dict[str, Any]) -> str:
    """Return the name of a cell: its method, its variant and its budget."""
    variant = variant_text(cell["variant"])
    return ", ".join(filter(None, [cell["method"], variant, f"ε = {cell['epsilon']}"]))


def demonstrates(study: Study) -> bool:
    """Tell whether a study only shows the machinery, and judges nothing."""
    return bool(study.get("demonstrates", False))


def settings(study: Study) -> list[str]:
    """Return the settings that tell a study's cells apart, each a column of its tables.

    One that a table has a column for anyway, such as the rate, is no second one.
    """
    keys = dict.fromkeys(key for cell in study["cells"] for key in cell["variant"])
    return [key for key in keys if key not in OWN]


def setting_columns(study: Study, cell: dict[str, Any]) -> dict[str, Any]:
    """Return the settings of a cell by column, None for those it does not have."""
    return {key: cell["variant"].get(key) for key in settings(study)}


def head(study: Study, cell: dict[str, Any]) -> dict[str, Any]:
    """Return what every table says of a cell: whose it is, and all that tells it apart."""
    return {
        "study": study["name"],
        "dataset": study["dataset"],
        **{key: cell[key] for key in ("method", "label", "unit")},
        "variant": variant_text(cell["variant"]),
        **setting_columns(study, cell),
        "epsilon": number(cell["epsilon"]),
    }


def columns(study: Study, own: list[str]) -> list[str]:
    """Return the columns of a table: a setting that the study varies has one of its own."""
    at = own.index("variant") + 1
    return [*own[:at], *settings(study), *own[at:]]


def without(runs: pd.DataFrame, keys: list[str], *left: str) -> pd.Series:
    """Return what the settings of each row but some of them are, as text."""
    kept = [key for key in keys if key not in left]
    values = runs[kept].to_dict("records") or [{}] * len(runs)  # pandas 3.0: none of no columns
    known = ({k: v for k, v in row.items() if not pd.isna(v)} for row in values)
    return pd.Series([variant_text(row) for row in known], runs.index, dtype=str)


def numeric_keys(study: Study) -> list[str]:
    """Return what a study varies in numbers: keys with more than one value, all of them numbers."""
    found: dict[str, set] = {}
    for cell in study["cells"]:
        for key, value in cell["variant"].items():
            found.setdefault(key, set()).add(value)
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


def unit_of(study: Study) -> str:
    """Return whom the epsilons of a study protect: one `example`, or a whole `client`."""
    return study["cells"][0]["unit"]


def frame(study: Study, runs_dir: Path) -> pd.DataFrame:
    """Return one row per run of every cell; accuracies in percent.

    A run without a finite accuracy counts as guessing; `trained` marks the runs of a cell that did
    not fail (`tables.outcomes`).
    `certified` holds for a cell if every run has a certificate, or no budget to certify, `refuted`
    if an audit refutes the certificate or the claim of any run. Every setting that the study varies
    has a column, None where a cell does not have it.
    """
    rows = [
        _cell_columns(cell)
        | setting_columns(study, cell)
        | {"cell": index, "run": run, "seed": seed}
        | _outcome(path)
        for index, cell, run, seed, path in _runs(study, runs_dir)
    ]
    table = _with_objects(rows, settings(study))
    unproven = np.isfinite(table["epsilon"]) & table["eps_certified"].isna()
    guess = chance(study["dataset"])
    ended = np.isfinite(table["accuracy"])
    finite = {
        key: table[key].where(np.isfinite(table[key]) | (ended & known), guess)
        for key, known in (("accuracy", False), ("train_accuracy", True))
    }
    certified = ~unproven.groupby(table["cell"]).transform("any")
    table = table.assign(**finite, certified=certified, refuted=audits.refuted(table))
    level = chance_level(study["dataset"])
    ended = table["accuracy"].mask(table["diverged"])
    cells = ended.groupby(table["cell"])
    trained = cells.transform(lambda own: outcomes.trained(own, level))
    return table.assign(trained=trained.astype(bool))


def trajectories(study: Study, runs_dir: Path, name: str) -> pd.DataFrame:
    """Return `metrics` or `rates` of every run, one row per round; accuracies as fractions.

    NotKeptError where a run has none: kept runs of older folders.
    """
    paths = [path / f"{name}.csv" for *_, path in _runs(study, runs_dir)]
    if missing := [path for path in paths if not path.exists()]:
        raise NotKeptError(f"the curves of {len(missing)} runs")
    proofs = frame(study, runs_dir).groupby("cell")[["certified", "refuted"]].first()
    tables = [
        files.read_table(path / f"{name}.csv").assign(
            **_cell_columns(cell)
            | {"cell": index, "run": run, "seed": seed}
            | proofs.loc[index].to_dict()
        )
        for index, cell, run, seed, path in _runs(study, runs_dir)
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
    for index, _, _, _, path in _runs(study, runs_dir):
        yield index, files.read_json(path / "summary.json")


def _with_objects(rows: list[dict[str, Any]], keys: list[str]) -> pd.DataFrame:
    """Make a table whose settings stay what they are: 10 beside None or 0.5 is no 10.0."""
    columns = {k: [row[k] for row in rows] for k in keys}
    mixed = {k: v for k, v in columns.items() if len(set(map(type, v))) > 1}
    return pd.DataFrame(rows).assign(**{k: pd.Series(v, dtype=object) for k, v in mixed.items()})


def _runs(study: Study, runs_dir: Path) -> Iterator[tuple[int, dict, str, int, Path]]:
    for index, cell in enumerate(study["cells"]):
        for run, seed in zip(cell["runs"], cell["seeds"], strict=True):
            yield index, cell, run, seed, Path(runs_dir) / run


def _cell_columns(cell: dict) -> dict[str, Any]:
    return {
        "method": cell["method"],
        "label": cell["label"],
        "variant": variant_text(cell["variant"]),
        "epsilon": number(cell["epsilon"]),
        "unit": cell["unit"],
        "tuning": fairness.chosen_by(cell),
    }


def _outcome(path: Path) -> dict[str, Any]:
    """Read what one run's summary says."""
    summary = files.read_json(path / "summary.json")
    optimizer, belief = summary["settings"]["optimizer"], summary["belief"] or {}
    return {
        "accuracy": 100 * number(summary["final_test_accuracy"]),
        "train_accuracy": 100 * number(summary.get("final_train_accuracy")),
        "validation_accuracy": 100 * number(summary["final_validation_accuracy"]),
        "diverged": bool(summary["diverged"]),
        "eps_claimed": number(summary["eps_claimed"]),
        "eps_certified": number(summary["eps_certified"]),
        "eps_accounted": number(summary["epsilon_spent"]),
        "reasons": "; ".join(summary.get("eps_certified_reasons") or []),
        **audit(summary.get("audit")),
        "adjacency": summary["adjacency"] or "",
        "accountant": summary["accountant"] or "",
        "noise": summary["noise"] or "",
        "estimator": summary["settings"]["mechanism"]["estimator"],
        "algorithm": optimizer["algorithm"],
        "rate_key": optimizer["rate_key"],
        "rate": number(optimizer["rate"]),
        "r": number(belief.get("r")),
        "regime": belief.get("regime") or "",
        "clipped_below": number(belief.get("clipped_below")),
        "clipped_above": number(belief.get("clipped_above")),
    }
