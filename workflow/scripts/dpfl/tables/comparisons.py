"""Paired comparisons of a study: every other value of what it varies with the baseline.

Every comparison is of one difference per seed, the mean over the study's finite epsilons (without a
budget there is no equal budget). Only seeds that have every one of these epsilons on both sides
count. Holm runs over all comparisons of the study.

A baseline is one value of what a study varies, or one of its methods; every other value, or method,
is compared with it, all else equal. Nobody claims an outcome, so the question has two sides.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from dpfl.errors import UserError
from dpfl.tables import pairing, results, verdicts

COLUMNS = [
    *("study", "dataset", "kind", "setting", "method", "value", "base", "better", "worse"),
    *("variant", "epsilons", "n", "difference", "ci_low", "ci_high", "p", "p_holm", "verdict"),
    *("better_certified", "worse_certified"),
]
KIND = "baseline"

Row = dict[str, Any]
Pair = tuple[Row, pd.DataFrame, pd.DataFrame]
"""What is compared, in words, and the runs of both sides."""


def comparisons(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return one row per comparison; differences in percentage points, better minus worse.

    `setting` was changed from `base` to `value`, of one `method` if it is not the method itself;
    `better` and `worse` name the two sides, `better` what was changed, whether it is better or not.
    Raises UserError for a baseline that the study does not run.
    """
    rows = _family(study, list(_changes(study, runs)))
    if results.demonstrates(study):
        rows = [row | {"verdict": "demonstration"} for row in rows]
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


def _family(study: results.Study, pairs: list[Pair]) -> list[Row]:
    """Test and judge the comparisons of one family."""
    over = [pairing.shared(better, worse) for _, better, worse in pairs]
    gaps = {
        number: pairing.differences(better, worse, over[number])
        for number, (_, better, worse) in enumerate(pairs)
    }
    judged = verdicts.family(gaps, study["margin"], verdicts.of_change)
    return [
        head
        | {
            "epsilons": " ".join(f"{e:g}" for e in over[number]),
            "n": judged[number].interval.n,
            "difference": judged[number].interval.mean,
            "ci_low": judged[number].interval.low,
            "ci_high": judged[number].interval.high,
            "p": judged[number].p,
            "p_holm": judged[number].p_holm,
            "verdict": judged[number].verdict,
            "better_certified": bool(better["certified"].all()),
            "worse_certified": bool(worse["certified"].all()),
        }
        for number, (head, better, worse) in enumerate(pairs)
    ]
