"""Paired comparisons of a study: its claims, the controls, its baseline, and whether "belief" wins.

Every comparison is of one difference per seed, the mean over the study's finite epsilons (without a
budget there is no equal budget). Only seeds that have every one of these epsilons on both sides
count. Holm runs over each family: a claim "better > worse", the controls, the baseline.

The controls form a family of their own: `sgd-ema` and `cadabelief-scalar` have what CAdabelief has
but for the per-coordinate belief, so only a win over all of them, and there must be two, speaks for
belief (an intersection-union test: its p is the largest).

A baseline is one value of what a study varies, or one of its methods; every other value, or method,
is compared with it, all else equal. Nobody claims an outcome, so the question has two sides.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from dpfl.errors import UserError
from dpfl.tables import results, verdicts

COLUMNS = [
    *("study", "dataset", "source", "kind", "better", "worse", "variant", "epsilons", "n"),
    *("difference", "ci_low", "ci_high", "p", "p_holm", "verdict", "not_certified"),
]
CONTROL_VERDICTS = {"replicated": "wins", "not replicated": "does not win"}
"""A control is nobody's published claim, so its verdicts have their own words."""

Row = dict[str, Any]
Pair = tuple[Row, pd.DataFrame, pd.DataFrame]
"""What is compared, in words, and the runs of both sides."""


def comparisons(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per comparison; differences in percentage points, better minus worse.

    In a baseline's rows `better` is what was changed, whether it is better or not. Raises UserError
    for a baseline that the study does not run.
    """
    rows: list[Row] = []
    for claim in study["claims"]:
        rows += _family(study, _against(runs, claim, claim["worse"], "claim"), verdicts.of_ordering)
    if study["claims"] and study["controls"]:
        pairs = _against(runs, study["claims"][0], study["controls"], "control")
        controls = _family(study, pairs, _of_control)
        rows += controls + (_belief(controls) if controls else [])
    rows += _family(study, list(_changes(study, runs)), verdicts.of_change)
    if verdicts.demonstrates(study["dataset"]):
        rows = [row | {"verdict": "demonstration"} for row in rows]
    head = {"study": study["name"], "dataset": study["dataset"]}
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def side(method: str, key: str, value: object) -> str:
    """Name one side of a comparison with a baseline, such as `sgd, budget=decay`."""
    return f"{method}, {key}={value}"


def _against(runs: pd.DataFrame, claim: dict, worse: list[str], kind: str) -> list[Pair]:
    """Pair the claim's better method with every worse one, in every variant of it."""
    variants = runs.loc[runs["method"] == claim["better"], "variant"].unique()
    return [
        (
            {
                "source": claim["source"],
                "kind": kind,
                "better": claim["better"],
                "worse": method,
                "variant": variant,
            },
            _runs_of(runs, claim["better"], variant),
            _runs_of(runs, method, variant),
        )
        for variant in variants
        for method in worse
    ]


def _changes(study: results.Study, runs: pd.DataFrame) -> Iterator[Pair]:
    """Pair every other value of a baseline's key with the baseline."""
    variants = {(c["method"], results.variant_text(c["variant"])): c for c in study["cells"]}
    for key, wanted in study.get("baseline", {}).items():
        if key == "method":
            yield from _other_methods(runs, wanted, variants)
            continue
        base = _base(study, key, wanted)
        for (method, text), cell in variants.items():
            variant = cell["variant"]
            if variant[key] == base:
                continue
            head = {
                "source": "",
                "kind": "baseline",
                "better": side(method, key, variant[key]),
                "worse": side(method, key, base),
                "variant": results.variant_text(variant, without=key),
            }
            beside = results.variant_text(variant | {key: base})
            yield head, _runs_of(runs, method, text), _runs_of(runs, method, beside)


def _other_methods(runs: pd.DataFrame, base: str, variants: Iterable[tuple]) -> Iterator[Pair]:
    """Pair every other method with the baseline, in the same variant."""
    for method, text in variants:
        if method != base and (base, text) in variants:
            head = {"source": "", "kind": "baseline", "better": method, "worse": base}
            yield head | {"variant": text}, _runs_of(runs, method, text), _runs_of(runs, base, text)


def _base(study: results.Study, key: str, wanted: object) -> object:
    """Return a baseline's value as the cells have it: 1 and 1.0 are equal, but not their texts."""
    values = list(dict.fromkeys(cell["variant"].get(key) for cell in study["cells"]))
    if wanted in values:
        return values[values.index(wanted)]
    found = f"study {study['name']}: baseline {key}={wanted}"
    raise UserError(f"{found}, expected one of {', '.join(map(str, values))}")


def _runs_of(runs: pd.DataFrame, method: str, variant: str) -> pd.DataFrame:
    return runs[(runs["method"] == method) & (runs["variant"] == variant)]


def _family(
    study: results.Study,
    pairs: list[Pair],
    judge: Callable[[verdicts.Interval, float], str],
) -> list[Row]:
    """Test and judge the comparisons of one family."""
    paired = [_differences(better, worse) for _, better, worse in pairs]
    gaps = {number: gap for number, (gap, _) in enumerate(paired)}
    judged = verdicts.family(gaps, study["margin"], judge)
    return [
        head
        | {
            "epsilons": " ".join(f"{e:g}" for e in paired[number][1]),
            "n": judged[number].interval.n,
            "difference": judged[number].interval.mean,
            "ci_low": judged[number].interval.low,
            "ci_high": judged[number].interval.high,
            "p": judged[number].p,
            "p_holm": judged[number].p_holm,
            "verdict": judged[number].verdict,
            "not_certified": _not_certified(head, better, worse),
        }
        for number, (head, better, worse) in enumerate(pairs)
    ]


def _not_certified(head: Row, *sides: pd.DataFrame) -> str:
    """Name the sides of a comparison whose budget nothing certifies."""
    named = zip((head["better"], head["worse"]), sides, strict=True)
    ending = results.NOT_CERTIFIED
    return "; ".join(name for name, own in named if own["label"].str.endswith(ending).any())


def _of_control(measured: verdicts.Interval, margin: float) -> str:
    verdict = verdicts.of_ordering(measured, margin)
    return CONTROL_VERDICTS.get(verdict, verdict)


def _differences(better: pd.DataFrame, worse: pd.DataFrame) -> tuple[np.ndarray, list[float]]:
    """Return one difference per seed, and the epsilons it is the mean of."""
    ours, theirs = _by_seed(better), _by_seed(worse)
    epsilons = [e for e in ours.columns.intersection(theirs.columns) if np.isfinite(e)]
    if not epsilons:
        return np.array([]), []
    gaps = (ours[epsilons] - theirs[epsilons]).dropna()
    return gaps.mean(axis=1).to_numpy(), epsilons


def _by_seed(runs: pd.DataFrame) -> pd.DataFrame:
    """Return accuracies, one row per seed and one column per epsilon."""
    return runs.pivot(index="seed", columns="epsilon", values="accuracy")


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
