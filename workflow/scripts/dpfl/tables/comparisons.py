"""Paired comparisons of a study: every other value of what it varies with the baseline.

At every finite epsilon first (without a budget there is no equal budget), by one difference per
seed whose runs trained on both sides; the row `overall` says what holds at all of them, with the
numbers of the epsilon that says least. The mean over the epsilons, `pooled`, stands second and
decides nothing. Holm runs over the comparisons of the study, each with its largest p; one whose
sides share no finite epsilon is not run, and takes nothing from the others.

A baseline is one value of what a study varies, or one of its methods; every other value, or method,
is compared with it, all else equal. Nobody claims an outcome, so the question has two sides.
"""

import math
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from dpfl.base.errors import UserError
from dpfl.seeds import outcomes, pairing, verdicts
from dpfl.tables import fairness, results
from dpfl.words.vocabulary import DEMONSTRATION, NO_DIFFERENCE

COLUMNS = [
    *("study", "dataset", "kind", "setting", "method", "value", "base", "better", "worse"),
    *("variant", "part", "epsilons", "n", "failed", "difference", "ci_low", "ci_high", "p"),
    *("p_holm", "tuning", "verdict", "better_certified", "worse_certified"),
]
OVERALL, POOLED = "overall", "pooled"
KIND = "baseline"

Row = dict[str, Any]
Pair = tuple[Row, pd.DataFrame, pd.DataFrame]
"""What is compared, in words, and the runs of both sides."""


def comparisons(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of every comparison; differences in percentage points, better minus worse.

    `setting` was changed from `base` to `value`, of one `method` if it is not the method itself;
    `better` and `worse` name the two sides, `better` what was changed, whether it is better or not.
    Raises UserError for a baseline that the study does not run.
    """
    rows = _family(study, list(_changes(study, runs)))
    if results.demonstrates(study):
        rows = [row | {"verdict": DEMONSTRATION} for row in rows]
    head = {"study": study["name"], "dataset": study["dataset"], "kind": KIND}
    return pd.DataFrame([head | row for row in rows], columns=COLUMNS)


def side(method: str, key: str, value: object) -> str:
    """Name one side of a comparison with a baseline, such as `sgd, budget=decay`."""
    return f"{method}, {key}={value}"


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
                **{"setting": key, "method": method, "value": variant[key], "base": base},
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
            head = {"setting": "method", "method": "", "value": method, "base": base}
            head |= {"better": method, "worse": base, "variant": text}
            yield head, _runs_of(runs, method, text), _runs_of(runs, base, text)


def _base(study: results.Study, key: str, wanted: object) -> object:
    """Return a baseline's value as the cells have it: 1 and 1.0 are equal, but not their texts."""
    values = list(dict.fromkeys(cell["variant"].get(key) for cell in study["cells"]))
    if wanted in values:
        return values[values.index(wanted)]
    found = f"study {study['name']}: baseline {key}={wanted}"
    raise UserError(f"{found}, expected one of {', '.join(map(str, values))}")


def _runs_of(runs: pd.DataFrame, method: str, variant: str) -> pd.DataFrame:
    return runs[(runs["method"] == method) & (runs["variant"] == variant)]


def whole(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of comparisons as a whole."""
    return compared[compared["part"] == OVERALL]


def _family(study: results.Study, pairs: list[Pair]) -> list[Row]:
    """Test and judge the comparisons of one family; a pair without a common epsilon is not run."""
    over = [pairing.shared(better, worse) for _, better, worse in pairs]
    ran = [n for n, epsilons in enumerate(over) if epsilons]
    samples = {n: [pairing.differences(*pairs[n][1:], [e]) for e in over[n]] for n in ran}
    pooled = {n: pairing.differences(*pairs[n][1:], over[n]) for n in ran}
    judged = pairing.family(samples, pooled, study["margin"], verdicts.of_change)
    rows = []
    for n, (pair, epsilons) in enumerate(zip(pairs, over, strict=True)):
        if n not in judged:
            rows.append(_row(pair, OVERALL, [], verdicts.NOTHING))
            continue
        found = judged[n]
        parts = [
            _row(pair, f"epsilon {e:g}", [e], part)
            for e, part in zip(epsilons, found.parts, strict=True)
        ]
        rows.append(_overall(pair, epsilons, parts, found))
        if len(parts) > 1:
            rows += [*parts, _row(pair, POOLED, epsilons, found.pooled)]
    return rows


def _overall(pair: Pair, over: list[float], parts: list[Row], found: pairing.Found) -> Row:
    """Sum up the epsilons of a pair: the p are of all together, the rest of the one that decides.

    Of those with the verdict of all, or of all where they are mixed, it is the one that says least:
    the largest p, or where all say that there is no difference the interval that reaches farthest.
    """
    verdict = verdicts.together(part["verdict"] for part in parts)
    alike = [part for part in parts if part["verdict"] == verdict] or parts
    least = max(alike, key=_reach if verdict == NO_DIFFERENCE else _doubt)
    told = {"p": found.p, "p_holm": found.p_holm, "verdict": verdict}
    return {**least, **_sides(pair, OVERALL, over), **told}


def _doubt(part: Row) -> float:
    return math.inf if math.isnan(part["p"]) else part["p"]


def _reach(part: Row) -> float:
    return max(abs(part["ci_low"]), abs(part["ci_high"]))


def _row(pair: Pair, part: str, over: list[float], found: verdicts.Comparison) -> Row:
    """Return a row on a pair at some epsilons."""
    return {
        **_sides(pair, part, over),
        "n": found.interval.n,
        "difference": found.interval.mean,
        "ci_low": found.interval.low,
        "ci_high": found.interval.high,
        "p": found.p,
        "p_holm": found.p_holm,
        "verdict": found.verdict,
    }


def _sides(pair: Pair, part: str, over: list[float]) -> Row:
    """Return what is known of a pair at some epsilons before anything is judged."""
    head, *sides = pair
    better, worse = (side[side["epsilon"].isin(over)] for side in sides)
    return {
        **head,
        "part": part,
        "epsilons": " ".join(f"{e:g}" for e in over),
        "failed": sum(len(side) - len(outcomes.of_trained(side)) for side in (better, worse)),
        "tuning": fairness.of(better, worse),
        "better_certified": bool(sides[0]["certified"].all()),
        "worse_certified": bool(sides[1]["certified"].all()),
    }
