"""Finished runs as tables: one row per run, or one row per round, with the cell they belong to.

A study is the JSON object that the workflow hands to its drivers: name, title, dataset, kind,
delta, margin, claims, controls, baseline and cells. A cell lists its runs in the order of its
seeds.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpfl import files, plugins

Study = dict[str, Any]
NOT_CERTIFIED = " (not certified)"
CHANCE = 1.5
"""Times the accuracy of guessing; a network that always gives the commonest class is at chance."""


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


def variant_of(text: str) -> dict[str, str]:
    """Return what `variant_text` wrote; values stay text."""
    return dict(part.split("=", 1) for part in text.split(", ") if part)


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

    A run without a finite accuracy counts as guessing: to leave it out would flatter its method.
    The label of a cell whose budget nothing certifies says so, wherever it is shown.
    """
    rows = [
        _cell_columns(cell) | {"cell": index, "run": run, "seed": seed} | _outcome(path)
        for index, cell, run, seed, path in _runs(study, runs_dir)
    ]
    table = pd.DataFrame(rows)
    finite = np.isfinite(table["accuracy"])
    unproven = np.isfinite(table["epsilon"]) & table["eps_certified"].isna()
    unproven = unproven.groupby(table["cell"]).transform("any")
    return table.assign(
        accuracy=table["accuracy"].where(finite, chance(study["dataset"])),
        label=table["label"] + unproven.map({True: NOT_CERTIFIED, False: ""}),
    )


def trajectories(study: Study, runs_dir: Path, name: str) -> pd.DataFrame:
    """Return `metrics` or `rates` of every run, one row per round; accuracies as fractions."""
    labels = frame(study, runs_dir).groupby("cell")["label"].first()
    tables = [
        pd.read_csv(path / f"{name}.csv").assign(
            **_cell_columns(cell) | {"label": labels[index], "seed": seed}
        )
        for index, cell, _, seed, path in _runs(study, runs_dir)
    ]
    filled = [table for table in tables if len(table)]
    return pd.concat(filled or tables[:1], ignore_index=True)


def summaries(study: Study, runs_dir: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the summary of every run, with the number of its cell."""
    for index, _, _, _, path in _runs(study, runs_dir):
        yield index, files.read_json(path / "summary.json")


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
    }


def _outcome(path: Path) -> dict[str, Any]:
    """Read what one run's summary says."""
    summary = files.read_json(path / "summary.json")
    optimizer, belief = summary["settings"]["optimizer"], summary["belief"] or {}
    return {
        "accuracy": 100 * number(summary["final_test_accuracy"]),
        "validation_accuracy": 100 * number(summary["final_validation_accuracy"]),
        "diverged": bool(summary["diverged"]),
        "eps_claimed": number(summary["eps_claimed"]),
        "eps_certified": number(summary["eps_certified"]),
        "eps_accounted": number(summary["epsilon_spent"]),
        "reasons": "; ".join(summary.get("eps_certified_reasons") or []),
        "eps_audit_lb": number(summary["eps_audit_lb"]),
        "audit_status": summary["audit_status"],
        "adjacency": summary["adjacency"] or "",
        "accountant": summary["accountant"] or "",
        "noise": summary["noise"] or "",
        "algorithm": optimizer["algorithm"],
        "rate_key": optimizer["rate_key"],
        "rate": number(optimizer["rate"]),
        "r": number(belief.get("r")),
        "regime": belief.get("regime") or "",
        "clipped_below": number(belief.get("clipped_below")),
        "clipped_above": number(belief.get("clipped_above")),
    }
