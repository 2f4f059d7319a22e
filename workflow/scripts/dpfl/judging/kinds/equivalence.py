"""A as accurate as B, C and D, or no worse, at equal privacy budget.

Two one-sided tests on one difference per seed (better - worse, accuracy points), each at half the
error of a look (Schuirmann 1987). `margin` is in points, from the paper's words. Without it, the
margin is that of the configuration. With `asks: no worse` one test is left: a lead of any size is
no worse. Epsilons, Holm's procedure, failures and tuning count as in the rule of differences. By
the interval of at least 5 paired seeds, the first that is true:

    holds                     both ends are less than the margin from 0; `no worse`: the lower one
    does not hold             all of it is further than the margin from 0; `no worse`: below it
    open: needs more seeds    everything else
    open: needs enough seeds  fewer than 5 paired seeds
    open: needs runs of it    one side has no run at this epsilon

It is never `opposite`, nor does it hold `small`. If the shares of runs that trained differ, it does
not hold. Only where it asks for `no worse` and more of A trained, it holds.

With `against: best`, A is compared with the best of the others in hindsight. For each seed that is
the one of the highest mean accuracy over all other seeds. So no seed chooses its own rival.

The claim is a conjunction over opponents, variants and epsilons. If the true difference is the
margin at one of them, it is found to hold in at most 2.5 % of cases. Against the best in hindsight
another one may be chosen: then it is at most 10 % of two, and 17 % of five (simulated, with looks).
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pandas as pd

from dpfl.judging import orderings, rows
from dpfl.judging.evidence import Evidence
from dpfl.seeds import outcomes, verdicts
from dpfl.words.forms import listed

REQUIRED = ("study", "better", "worse")
OPTIONAL = ("of", "cells", "epsilons", "margin", "asks", "against")
LISTS = ("worse", "epsilons")
CHOICES = {"asks": ("as accurate", "no worse"), "against": ("each", "best")}
EXAMPLE = {"better": "a", "worse": ["b"]}

_RIVAL = "rival"


def band(printed: float, margin: float) -> tuple[float, float]:
    """Return where the differences lie that make none: the margin to either side."""
    return -margin, margin


def judge(claim: dict[str, Any], evidence: Evidence) -> list[rows.Row]:
    """Return the rows of the claim, the conjunction first."""
    margin = claim.get("margin", evidence.study["margin"])
    rule = verdicts.Equivalence(margin, below=claim.get("asks") == "no worse")
    compared = orderings.pairs(claim, evidence, claim["worse"])
    if claim.get("against") == "best":
        compared = in_hindsight(claim, compared)
    return orderings.judged(orderings.asked(claim, evidence, compared, rule=rule), compared)


def in_hindsight(claim: dict, compared: Iterable[orderings.Pair]) -> list[orderings.Pair]:
    """Return a pair for every cell: against the best of its opponents, chosen by other seeds."""
    by_cell: dict[str, list[orderings.Pair]] = {}
    for pair in compared:
        by_cell.setdefault(pair.cell, []).append(pair)
    found = []
    for cell, own in by_cell.items():
        rivals = pd.concat([pair.worse.assign(**{_RIVAL: n}) for n, pair in enumerate(own)])
        name = ", ".join([f"against the best of {listed(claim['worse'])}", *[cell] * bool(cell)])
        about = own[0].about.replace(own[0].name, name)
        found.append(replace(own[0], name=name, about=about, worse=_chosen(rivals)))
    return found


def _chosen(rivals: pd.DataFrame) -> pd.DataFrame:
    """Return the run of the best rival for every epsilon and seed, by its other seeds' means."""
    kept = []
    for _, own in rivals.groupby("epsilon"):
        trained = outcomes.of_trained(own)
        for seed in dict.fromkeys(own["seed"]):
            means = trained[trained["seed"] != seed].groupby(_RIVAL)["accuracy"].mean()
            best = means.idxmax() if len(means) else own[_RIVAL].iloc[0]
            kept.append(own[(own["seed"] == seed) & (own[_RIVAL] == best)])
    return pd.concat(kept or [rivals]).drop(columns=_RIVAL)
