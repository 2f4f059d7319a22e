"""Paired comparisons of a study: every other value of what it varies with the baseline.

Every finite epsilon is judged first; without a budget there is no equal budget. A seed whose runs
trained on both sides gives one difference. The row `overall` says what holds at all epsilons. Its
numbers are those of the epsilon that says least. The mean over the epsilons, `pooled`, stands
second and decides nothing. Holm runs over the comparisons of the study, each with its largest p. A
comparison whose sides share no finite epsilon is not run, and takes nothing from the others. Each
has the rows of the first look that decides it, or else of the last (dpfl.seeds.looks).

A baseline is one value of what a study varies, or one of its methods. Every other value, or method,
is compared with it, all else equal. The verdict is on whether it is more accurate.
"""

import math
from collections.abc import Iterator
from typing import Any

import pandas as pd

from dpfl.base.errors import UserError
from dpfl.seeds import conjunction, fairness, looks, outcomes, pairing, verdicts
from dpfl.tables import results
from dpfl.words.vocabulary import DEMONSTRATION, decides, verdict_of

OVERALL, POOLED = "overall", "pooled"
METHOD = "method"

Row = dict[str, Any]
Pair = tuple[Row, pd.DataFrame, pd.DataFrame]
"""What is compared, in words, and the runs of both sides."""


def comparisons(study: results.Study, runs: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of every comparison; differences in percentage points, better minus worse.

    `setting` was changed from `base` to `value`, of one `method` if it is not the method itself;
    `better` and `worse` name the two sides, `better` what was changed, whether it is better or not.
    A row on several budgets has no epsilon.
    Raises UserError for a baseline that the study does not run.
    """
    taken = [_family(study, list(_changes(study, seen))) for (seen,) in looks.each(runs)]
    found = [looks.first(own, lambda pair: decides(pair[0])) for own in zip(*taken, strict=True)]
    rows = [row for pair in found for row in pair]
    if study["demonstrates"]:
        rows = [row | DEMONSTRATION._asdict() for row in rows]
    return results.table("comparisons", [results.about(study) | row for row in rows])


def _changes(study: results.Study, runs: pd.DataFrame) -> Iterator[Pair]:
    """Pair every other value of a baseline's key with the baseline, all else equal.

    A method is a value too; one of which the baseline has no such variant is not compared.
    """
    cells: dict[tuple, list[int]] = {}
    for index, cell in enumerate(study["cells"]):
        cells.setdefault(tuple(_settings(cell).items()), []).append(index)
    for key, wanted in study.get("baseline", {}).items():
        base = _base(study, key, wanted)
        for place, own in cells.items():
            settings = dict(place)
            beside = cells.get(tuple((settings | {key: base}).items()), [])
            if settings[key] != base and (beside or key != METHOD):
                sides = (runs[runs["cell"].isin(found)] for found in (own, beside))
                yield _head(settings, key, base), *sides


def _settings(cell: dict[str, Any]) -> dict[str, Any]:
    return {METHOD: cell["method"]} | cell["variant"]


def _head(settings: dict[str, Any], key: str, base: object) -> Row:
    """Return what is compared, in words."""
    value, method = settings[key], settings[METHOD]
    sides = [one if key == METHOD else f"{method}, {key}={one}" for one in (value, base)]
    told = {"setting": key, "value": value, "base": base, "better": sides[0], "worse": sides[1]}
    return settings | {key: None} | told


def _base(study: results.Study, key: str, wanted: object) -> object:
    """Return a baseline's value as the cells have it: 1 and 1.0 are equal, but not their texts."""
    values = list(dict.fromkeys(_settings(cell).get(key) for cell in study["cells"]))
    if wanted in values:
        return values[values.index(wanted)]
    found = f"study {study['name']}: baseline {key}={wanted}"
    raise UserError(f"{found}, expected one of {', '.join(map(str, values))}")


def whole(compared: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of comparisons as a whole."""
    return compared[compared["part"] == OVERALL]


def _family(study: results.Study, pairs: list[Pair]) -> list[list[Row]]:
    """Return the rows of each comparison of one family; without a common epsilon it is not run."""
    over = [pairing.shared(better, worse) for _, better, worse in pairs]
    ran = [n for n, epsilons in enumerate(over) if epsilons]
    samples = {n: [pairing.differences(*pairs[n][1:], [e]) for e in over[n]] for n in ran}
    pooled = {n: pairing.differences(*pairs[n][1:], over[n]) for n in ran}
    shares = {n: [_shares(pairs[n], e) for e in over[n]] for n in ran}
    judged = pairing.family(samples, pooled, verdicts.Ordering(study["margin"]), shares)
    rows = []
    for n, (pair, epsilons) in enumerate(zip(pairs, over, strict=True)):
        if n not in judged:
            rows.append([_row(pair, OVERALL, [], verdicts.NOTHING)])
            continue
        found = judged[n]
        each = zip(epsilons, found.parts, strict=True)
        parts = [_row(pair, f"epsilon {e:g}", [e], part) for e, part in each]
        rows.append([_overall(pair, epsilons, parts, found)])
        if len(parts) > 1:
            rows[-1] += [*parts, _row(pair, POOLED, epsilons, found.pooled)]
    return rows


def _shares(pair: Pair, epsilon: float) -> pairing.Shares:
    return pairing.Shares.count(*_among(pair, [epsilon]))


def _overall(pair: Pair, over: list[float], parts: list[Row], found: pairing.Found) -> Row:
    """Sum up the epsilons of a pair: p are of all together, the rest of the one that decides."""
    verdict = conjunction.verdict(map(verdict_of, parts))
    told = {"p": found.p, "p_holm": found.p_holm, **verdict._asdict()}
    return {**conjunction.deciding(parts, verdict), **_sides(pair, OVERALL, over), **told}


def _row(pair: Pair, part: str, over: list[float], found: verdicts.Comparison) -> Row:
    """Return a row on a pair at some epsilons."""
    measured = found.interval
    own = {"n": measured.n, "difference": measured.mean}
    own |= {"ci_low": measured.low, "ci_high": measured.high}
    verdict = fairness.judged(found.verdict, *_among(pair, over))
    own |= {"p": found.p, "p_holm": found.p_holm, **verdict._asdict()}
    return _sides(pair, part, over) | own


def _among(pair: Pair, over: list[float]) -> list[pd.DataFrame]:
    """Return the runs of both sides at some epsilons."""
    return [side[side["epsilon"].isin(over)] for side in pair[1:]]


def _sides(pair: Pair, part: str, over: list[float]) -> Row:
    """Return what is known of a pair at some epsilons before anything is judged."""
    head, *sides = pair
    better, worse = _among(pair, over)
    return {
        **head,
        "part": part,
        "epsilon": over[0] if len(over) == 1 else math.nan,
        "failed": sum(len(side) - len(outcomes.of_trained(side)) for side in (better, worse)),
        "tuning": fairness.between(better, worse),
        "better_certified": bool(sides[0]["certified"].all()),
        "worse_certified": bool(sides[1]["certified"].all()),
    }
