"""Studies whose tables the tests compute."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import synthetic
from synthetic import cell, study

from dpfl.tables import comparisons, results, study_table

INF = math.inf


METHODS = ("cadabelief", "sgd", "adam", "adabelief", "sgd-ema", "cadabelief-scalar")


AHEAD = dict(zip(METHODS, (0.03, 0.0, 0.01, 0.0, 0.03, 0.01), strict=True))


def accuracy(own: dict, seed: int) -> float:
    """A seed shifts all methods alike; each has an advantage and a little noise of its own."""
    noise = np.random.default_rng([seed, METHODS.index(own["method"])]).normal(0, 0.001)
    bonus = 0.02 if own["epsilon"] == 8.0 else 0.0
    return 0.9 + AHEAD[own["method"]] + 0.01 * seed + bonus + noise


def study_of(tmp_path: Path, cells: list[dict], outcome=lambda c, s: {}, **extra):
    """Write a study of these cells and return it with its runs, comparisons and cells."""
    synthetic.write(tmp_path, cells, outcome)
    made = study(cells, **extra)
    runs = results.frame(made, tmp_path)
    return made, runs, comparisons.comparisons(made, runs), study_table.cells(made, runs)


def compare(tmp_path: Path, seeds: int = 5, dataset: str = "mnist", **extra):
    """Write a study of all methods; return all as `study_of` does."""
    cells = [cell(m, e, seeds) for m in METHODS for e in (2.0, 8.0)]
    cells += [cell(m, INF, 1) for m in METHODS]
    extra = {"baseline": {"method": "sgd"}, "dataset": dataset} | extra
    return study_of(tmp_path, cells, lambda c, s: {"accuracy": accuracy(c, s)}, **extra)


def row(table: pd.DataFrame, **where) -> pd.Series:
    found = table[(table[list(where)] == pd.Series(where)).all(axis=1)]
    assert len(found) == 1
    return found.iloc[0]


BUDGETS = {"uniform": 0.0, "decay": 0.02, "growth": -0.02, "adaptive": 0.0}


def budget_study(tmp_path: Path, seeds: int = 5, dataset: str = "mnist", **extra):
    """Write a study of strategies by method and clip norm; return all as `compare` does."""
    cells = [
        cell(m, e, seeds, budget=b, clip_norm=c)
        for m in ("sgd", "adam")
        for b in BUDGETS
        for c in (0.5, 1.0)
        for e in (2.0, 8.0, INF)
    ]
    extra = {"kind": "variants", "baseline": {"budget": "uniform"}, "dataset": dataset} | extra
    return study_of(tmp_path, cells, lambda c, s: {"accuracy": spending(c, s)}, **extra)


def spending(own: dict, seed: int) -> float:
    """A seed shifts all alike; a strategy has an advantage and a little noise of its own."""
    variant = own["variant"]
    key = [seed, list(BUDGETS).index(variant["budget"]), int(10 * variant["clip_norm"])]
    noise = np.random.default_rng([*key, own["method"] == "sgd"]).normal(0, 0.0005)
    bonus = 0.02 if own["epsilon"] == 8.0 else 0.0
    return 0.9 + BUDGETS[variant["budget"]] + 0.01 * seed + bonus + noise
