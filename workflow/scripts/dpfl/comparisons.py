"""Paired comparisons of a study: its claims, the controls, and whether "belief" earns a win.

A claim "better > worse at equal budget" is tested on one difference per seed, the mean over the
study's finite epsilons (without a budget there is no equal budget). Only seeds that have every one
of these epsilons for both methods count. Holm runs over all comparisons of a claim.

The controls form a family of their own: `sgd-ema` and `cadabelief-scalar` have what CAdabelief has
but for the per-coordinate belief, so only a win over all of them, and there must be two, speaks for
belief (an intersection-union test: its p is the largest).
"""

from typing import Any

import numpy as np
import pandas as pd

from dpfl import results, verdicts

COLUMNS = [
    *("study", "dataset", "source", "kind", "better", "worse", "variant", "epsilons", "n"),
    *("difference", "ci_low", "ci_high", "p", "p_holm", "verdict"),
]
CONTROL_VERDICTS = {"replicated": "wins", "not replicated": "does not win"}
"""A control is nobody's published claim, so its verdicts have their own words."""

Row = dict[str, Any]


def comparisons(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per comparison; differences in percentage points, better minus worse."""
    rows: list[Row] = []
    for claim in study["claims"]:
        rows += _family(study, runs, claim, claim["worse"], "claim")
    if study["claims"] and study["controls"]:
        claim = study["claims"][0]
        controls = _family(study, runs, claim, study["controls"], "control")
        rows += controls + (_belief(controls) if controls else [])
    if study["dataset"] in verdicts.DEMONSTRATIONS:
        rows = [row | {"verdict": "demonstration"} for row in rows]
    head = {"study": study["name"], "dataset": study["dataset"]}
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def _family(
    study: results.Study, runs: pd.DataFrame, claim: dict, worse: list[str], kind: str
) -> list[Row]:
    """Compare the claim's better method with every worse one, in every variant of it."""
    variants = runs.loc[runs["method"] == claim["better"], "variant"].unique()
    pairs = [(method, variant) for variant in variants for method in worse]
    paired = {pair: _differences(runs, claim, *pair) for pair in pairs}
    judged = verdicts.ordering({pair: paired[pair][0] for pair in pairs}, study["margin"])
    words = CONTROL_VERDICTS if kind == "control" else {}
    return [
        {
            "source": claim["source"],
            "kind": kind,
            "better": claim["better"],
            "worse": method,
            "variant": variant,
            "epsilons": " ".join(f"{e:g}" for e in paired[method, variant][1]),
            "n": judged[method, variant].interval.n,
            "difference": judged[method, variant].interval.mean,
            "ci_low": judged[method, variant].interval.low,
            "ci_high": judged[method, variant].interval.high,
            "p": judged[method, variant].p,
            "p_holm": judged[method, variant].p_holm,
            "verdict": words.get(judged[method, variant].verdict, judged[method, variant].verdict),
        }
        for method, variant in pairs
    ]


def _differences(
    runs: pd.DataFrame, claim: dict, worse: str, variant: str
) -> tuple[np.ndarray, list[float]]:
    """Return one difference per seed, and the epsilons it is the mean of."""
    runs = runs[runs["variant"] == variant]
    better = _by_seed(runs, claim["better"])
    other = _by_seed(runs, worse)
    epsilons = [e for e in better.columns.intersection(other.columns) if np.isfinite(e)]
    if not epsilons:
        return np.array([]), []
    gaps = (better[epsilons] - other[epsilons]).dropna()
    return gaps.mean(axis=1).to_numpy(), epsilons


def _by_seed(runs: pd.DataFrame, method: str) -> pd.DataFrame:
    """Return accuracies, one row per seed and one column per epsilon."""
    own = runs[runs["method"] == method]
    return own.pivot(index="seed", columns="epsilon", values="accuracy")


def _belief(controls: list[Row]) -> list[Row]:
    """Sum up the controls of each variant: belief wins only if every control is beaten."""
    table = pd.DataFrame(controls)
    return [_belief_row(rows) for _, rows in table.groupby("variant", sort=False)]


def _belief_row(rows: pd.DataFrame) -> Row:
    found = set(rows["verdict"])
    order = ("too few seeds", "does not win", "inconclusive", "wins")
    verdict = next(word for word in order if word in found)
    closest = rows.loc[rows["difference"].fillna(-np.inf).idxmin()]
    return closest.to_dict() | {
        "kind": "belief",
        "worse": " and ".join(rows["worse"]),
        "n": rows["n"].min(),
        "p": rows["p"].max(skipna=False),
        "p_holm": rows["p_holm"].max(skipna=False),
        "verdict": verdict if len(rows) > 1 else "control missing",
    }
