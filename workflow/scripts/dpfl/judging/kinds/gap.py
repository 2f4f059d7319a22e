"""The printed gain of one method on another against ours, at equal privacy budget.

The printed gain is the difference of two numbers printed at the same place (`table`: those that
stand for `better` and `worse`, on the study's data set), or `points`. Ours is one difference per
seed whose runs trained on both sides (better - worse); its Student interval at the level of a look,
against the band printed +- margin as far as that lies on the printed side of zero (a loss matches
no gain, but a printed gain of at most a tenth of the margin is a tie, which has both sides):

    matches                   the interval lies within the band
    differs                   the interval lies wholly outside the band
    open: needs more seeds    everything else
    open: needs enough seeds  fewer than 5 paired seeds
    open: needs runs of it    one side has no run there

It is open too where it rests on how a side was tuned, as in the rule of differences, and

    open: needs as long a training  the study says that it is shorter than the paper's

Every printed gain has a level of its own: it is found to differ, or to match, when it does not, in
at most 2.5 % of cases. The claim as a whole `differs` if one gain does, and `matches` if all do.
Else it is open, and needs enough seeds, runs of it or more seeds: the first that one of its gains
needs. With `of`, both sides are values of that setting, compared within every method.

Each gain also has `needed_n`, the fewest paired seeds for 80 % power to see the printed gain at
the spread of our differences (one two-sided paired t-test at 5 %); `lucky_gain`, what the best
three of ten seeds of `better` would gain on average over all ten, 1.07 standard deviations; and
`weak_baseline`, whether the number printed for `worse` is below the mean that certified DP-SGD,
other than `better` itself, reaches in this study at the same epsilon (the best cell of 5 seeds or
more).
"""

from typing import Any

import numpy as np

from dpfl.judging import gains, printed, published, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import fairness, looks, outcomes, pairing, power, verdicts
from dpfl.words.vocabulary import NOT_RUN

REQUIRED = ("study", "better", "worse")
OPTIONAL = ("of", "cells", "epsilons")
ONE_OF = ("table", "points")
LISTS = ("epsilons",)
EXAMPLE = {"better": "a", "worse": "b", "table": "table 1"}

_DPSGD = "dpsgd"
_TIE = 0.1
"""Of the margin: numbers that are printed so near to each other may be equal before rounding."""


def drawn() -> str:
    """Return the column of the gain itself, beside which the printed gain stands."""
    return "ours"


def band(printed: float, margin: float) -> tuple[float, float] | None:
    """Return the gains that match a printed one, on its side of zero or a tie's; None without."""
    if np.isnan(printed):
        return None
    low, high = float(printed - margin), float(printed + margin)
    if abs(printed) <= _TIE * margin:
        return low, high
    return (max(0.0, low), high) if printed > 0 else (low, min(0.0, high))


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the whole of its gains first."""
    found = gains.found(claim, evidence)
    parts = [_part(claim, evidence, gain) for gain in found]
    if len(parts) == 1:
        return [parts[0] | {"part": "overall"}]
    about = f"{claim['better']} against {claim['worse']}"
    sides = [side for gain in found for side in gain.pair.sides]
    head = rows.whole(claim, evidence, about, "printed gain", parts, sides)
    return [head | _extremes(parts), *parts] if parts else [head]


def _part(claim: dict, evidence: Evidence, gain: gains.Gain) -> rows.Row:
    """Judge one printed gain."""
    sides = gain.pair.sides
    head = rows.blank(
        claim,
        evidence,
        gain.name,
        about=f"{gain.pair.about}, {gain.place}",
        epsilon=gain.epsilon,
        printed=gain.printed,
        compared=gain.compared,
        tuning=fairness.between(*sides),
        **rows.of_runs(*sides),
    )
    if not gain.pair.ran:
        return head | NOT_RUN._asdict() | {"n": 0}
    measured = verdicts.interval(pairing.differences(*sides, [gain.epsilon]), looks.LEVEL)
    low, high = band(gain.printed, evidence.study["margin"])
    verdict = verdicts.cell_verdict(measured, (low + high) / 2, (high - low) / 2)
    verdict = published.decided(evidence.study, verdict)
    judged = {
        **fairness.judged(verdict, *sides)._asdict(),
        "needed_n": power.needed(gain.printed, measured.sd),
        "lucky_gain": power.lucky(outcomes.measured(gain.pair.better).sd),
        "weak_baseline": _weak(evidence, gain),
    }
    return head | printed.beside(measured, gain.printed) | judged


def _weak(evidence: Evidence, gain: gains.Gain) -> bool | str:
    """Tell whether the printed baseline is below certified DP-SGD; "" if that is not known."""
    runs = evidence.runs
    own = runs[(runs["estimator"] == _DPSGD) & runs["certified"].astype(bool)]
    own = own[~own["cell"].isin(gain.pair.better["cell"])]
    cells = outcomes.of_trained(own[own["epsilon"] == gain.epsilon]).groupby("cell")["accuracy"]
    means = cells.mean()[cells.count() >= verdicts.MIN_SEEDS]
    if np.isnan(gain.baseline) or not len(means):
        return ""
    return bool(gain.baseline < means.max())


def _extremes(parts: list[rows.Row]) -> rows.Row:
    """Return what holds of all gains: the most seeds needed, and a weak baseline."""
    weak = [part["weak_baseline"] for part in parts if part["weak_baseline"] != ""]
    most = {
        key: max((part[key] for part in parts if not np.isnan(part[key])), default=np.nan)
        for key in ("needed_n", "lucky_gain")
    }
    return {
        "tuning": fairness.least(part["tuning"] for part in parts),
        "weak_baseline": any(weak) if weak else "",
        **most,
    }
