"""Claims on few seeds, failed or missing runs, and changes that must not matter."""

import judged
import numpy as np
import pandas as pd
import pytest
from claims_of_runs import (
    CONTROLS,
    ORDERING,
    OVER_EPSILON,
    OVER_ROUNDS,
    RACE,
    exact,
    judge,
    named,
    verdict,
)
from closed_forms import COST, LOOK
from refusals import refuses
from scipy import stats

from dpfl.judging import judge as judging
from dpfl.judging.evidence import Evidence
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import verdict_of

SEEDED = [
    ORDERING,
    CONTROLS,
    {"kind": "gap", "better": "a", "worse": "b", "points": 1.0},
    RACE,
    OVER_EPSILON,
    OVER_ROUNDS,
]


WITHIN = {"kind": "convergence", "better": "a", "worse": ["b"], "within": 1.0}


def three(seeds, level=lambda method, epsilon, seed: 90.0 + seed):
    return judged.found(
        {
            (m, e, ()): [level(m, e, seed) for seed in range(seeds)]
            for m in "abc"
            for e in (2.0, 4.0)
        },
        curves=lambda m, e, s: [(0.2 if m == "a" else 0.1) * t for t in range(5)],
    )


@pytest.mark.parametrize("claim", SEEDED, ids=named)
@pytest.mark.parametrize("seeds", [1, 2, 4])
def test_few_seeds_decide_nothing(claim, seeds):
    assert verdict(three(seeds), **claim) == words.TOO_FEW


@pytest.mark.parametrize("claim", SEEDED, ids=named)
def test_a_missing_epsilon_is_not_run(claim):
    found = three(5, lambda m, e, seed: 90.0 + seed + (m == "a") + e)
    assert verdict(found, **claim, epsilons=[2, 16]) in {words.NOT_RUN, words.TOO_FEW}


@pytest.mark.parametrize("claim", SEEDED[:3], ids=named)
def test_equal_runs_of_every_seed_are_told(claim):
    """Without any spread an interval is a point: nothing is divided by it."""
    table = judge(three(5), **claim)
    assert verdict_of(table.iloc[0]) in {words.NO_DIFFERENCE, words.MATCHES}
    assert (table["difference_low"] == table["difference_high"]).iloc[1:].all()


def test_an_opponent_that_was_not_run_takes_nothing_from_the_others():
    """At the level of a family of one the lead is shown, of three it would not be."""
    gaps = np.array([0.3, 0.6, 0.9, 1.2, 1.5])
    assert 0.05 / 3 < COST * stats.ttest_1samp(gaps, 0).pvalue < 0.05
    evidence = exact(a=90 + gaps, b=90)
    claim = {"kind": "ordering", "better": "a", "epsilons": [2]}
    alone, among = (judge(evidence, **claim, worse=worse) for worse in (["b"], ["b", "c", "e"]))
    part = "against b, epsilon 2"
    rows = [table[table["part"] == part].iloc[0] for table in (alone, among)]
    for key in ("verdict", "difference_low", "p_holm"):
        assert rows[0][key] == rows[1][key]
    assert verdict_of(rows[0]) == words.SMALL
    expected = stats.ttest_1samp(gaps, 0).confidence_interval(LOOK)
    assert rows[0]["difference_low"] == pytest.approx(expected.low)


def test_a_race_against_runs_that_all_failed_has_no_goal_and_was_run():
    found = exact(lambda m, e, s: [0.1, 0.1, 0.4 if m == "a" else 0.1], a=40, b=10)
    whole = judge(found, **WITHIN).iloc[0]
    assert (verdict_of(whole), whole["n"], whole["failed"]) == (words.TOO_FEW, 0, 5)
    assert len(whole["runs"].split()) == 10


@pytest.mark.parametrize("sign", [1, -1])
def test_the_p_of_all_budgets_is_the_largest_or_1_where_they_point_apart(sign):
    spread = np.array([-0.2, 0.1, 0.0, 0.2, -0.1])
    gaps = {2.0: 1 + spread, 4.0: sign * 0.3 + 2 * spread}
    sides = {("a", e, ()): 90 + gap for e, gap in gaps.items()}
    sides |= {("b", e, ()): np.full(5, 90.0) for e in gaps}
    whole = judge(judged.found(sides), **ORDERING).iloc[0]
    largest = max(stats.ttest_1samp(gap, 0).pvalue for gap in gaps.values())
    assert whole["p"] == pytest.approx(largest if sign > 0 else 1)


def test_a_pair_has_one_interval_and_the_p_of_its_family():
    """The lead is told alone. Beside a tie it is not, and its interval is the same."""
    gaps = np.array([0.3, 0.6, 0.9, 1.2, 1.5])
    found = exact(a=90 + gaps, b=90, c=90 + gaps[::-1])
    alone, among = (
        judge(found, **ORDERING | {"worse": worse}).set_index("part").loc["against b, epsilon 2"]
        for worse in (["b"], ["b", "c"])
    )
    expected = stats.ttest_1samp(gaps, 0)
    assert among["p_holm"] == pytest.approx(2 * COST * expected.pvalue)
    assert alone["p_holm"] == pytest.approx(COST * expected.pvalue) and alone["p_holm"] < 0.05
    assert (verdict_of(alone), verdict_of(among)) == (words.SMALL, words.INCONCLUSIVE)
    ends = ["difference_low", "difference_high"]
    assert alone[ends].tolist() == among[ends].tolist()
    assert tuple(among[ends]) == pytest.approx(tuple(expected.confidence_interval(LOOK)))


def test_pairs_of_which_one_run_failed_are_not_compared_and_told():
    def level(method, epsilon, seed):
        return 10.0 if (method, epsilon, seed) == ("a", 2.0, 0) else 90.0 + seed + (method == "a")

    for seeds, expected in ((5, words.TOO_FEW), (10, words.HOLDS)):
        table = judge(three(seeds, level), **ORDERING)
        assert table["failed"].iloc[0] == 1
        assert (table["n"].iloc[0], verdict_of(table.iloc[0])) == (seeds - 1, expected)
        assert table["difference"].iloc[0] == pytest.approx(1)


@pytest.mark.parametrize("claim", [SEEDED[2] | {"epsilons": [2]}, SEEDED[4]], ids=named)
def test_gains_and_trends_are_of_runs_that_trained(claim):
    """With one of five lost there is no verdict; with one of ten it is by the nine others."""

    def level(method, epsilon, seed):
        lost = (method, epsilon, seed) == ("a", 2.0, 4)
        return 10.0 if lost else 90.0 + 0.1 * seed + 2 * (method == "a") + epsilon

    few, whole = (judge(three(n, level), **claim).iloc[0] for n in (5, 10))
    assert (verdict_of(few), few["n"], few["failed"]) == (words.TOO_FEW, 4, 1)
    assert (whole["n"], whole["failed"], whole["needs"]) == (9, 1, "")
    beyond_print = 2 - claim.get("points", 0)
    ends = tuple(whole[["difference_low", "difference_high"]])
    assert ends == pytest.approx((beyond_print, beyond_print))


def test_a_race_counts_the_run_that_failed_and_skips_the_goal_that_did():
    claim = WITHIN | {"epsilons": [2]}
    for lost, seeds in (("a", 5), ("b", 4)):
        evidence = three(5, lambda m, e, s, lost=lost: 10.0 if (m, s) == (lost, 0) else 40.0)
        whole = judge(evidence, **claim).iloc[0]
        assert (whole["n"], whole["failed"]) == (seeds, 5 - seeds)


def test_a_trend_counts_failures_among_the_runs_that_it_compares():
    lost = {(np.inf, 0), (np.inf, 1), (2.0, 2)}
    evidence = judged.found(
        {
            ("a", e, ()): np.array([10.0 if (e, s) in lost else 80.0 + e for s in range(5)])
            for e in (2.0, 4.0, np.inf)
        }
    )
    whole = judge(evidence, **OVER_EPSILON).iloc[0]
    assert (whole["n"], whole["failed"]) == (4, 1)


def test_a_run_that_passes_the_goal_and_then_diverges_never_gets_there():
    """Runs of b are at 40 % from round 6 on, of a from the first; one of a ends at chance."""

    def curve(method, epsilon, seed):
        rising = [0.4] * 8 if method == "a" else [0.1] * 6 + [0.4] * 2
        return [*rising[:-1], 0.1] if (method, seed) == ("a", 0) else rising

    whole = judge(exact(curve, a=[10.0, 40, 40, 40, 40], b=40), **RACE).iloc[0]
    assert whole["n"] == 5
    assert whole["difference"] == pytest.approx((4 * 6 - 2) / 5)
    assert "1 never gets there" in whole["about"]


def test_a_run_that_is_at_the_goal_to_the_example_is_there():
    """96.07 % is within a point of 97.07 %, whatever 97.07 - 1 is in floating point."""
    assert 100 * 0.9607 < 100 * 0.9707 - 1

    def curve(method, epsilon, seed):
        return [0.1, 0.9607, 0.9607, 0.97] if method == "a" else [0.1, 0.5, 0.5, 0.9707]

    whole = judge(exact(curve, a=97, b=100 * 0.9707), **WITHIN).iloc[0]
    assert whole["difference"] == pytest.approx(2)


def test_an_accuracy_that_is_no_number_is_an_error():
    found = three(5, lambda m, e, seed: np.nan if (m, seed) == ("a", 0) else 90.0 + seed)
    found.runs["trained"] = True
    refuses("no finite accuracy", verdict, found, **ORDERING)


def test_a_curve_that_is_no_number_is_at_chance_and_never_there():
    found = exact(lambda m, e, s: [0.1 * t if m == "b" else np.nan for t in range(8)], a=90, b=90)
    assert verdict(found, **RACE) == words.OPPOSITE
    assert verdict(found, **OVER_ROUNDS) == words.NO_DIFFERENCE


def test_gaps_that_cancel_over_epsilon_are_no_gap():
    gaps = {1.0: 0.3, 2.0: -0.1, 4.0: -0.2}
    base = np.array([96, 96.2, 95.9, 96.4, 96.1])
    sides = {(m, e, ()): base + (m == "a") * gap for e, gap in gaps.items() for m in "ab"}
    pooled = judge(judged.found(sides), **ORDERING).set_index("part").loc["against b, pooled"]
    assert (pooled["difference"], pooled["p"]) == (0, 1)
    assert verdict_of(pooled) == words.NO_DIFFERENCE


CELL = {
    **{"method": "b", "label": "b", "variant": {"rank": 50}, "epsilon": 8.0},
    **{"message": "RuntimeError: planted", "log": "results/logs/train/x.log"},
}
CLAIM = {"id": "c", "kind": "ordering", "study": "s", "better": "a", "worse": ["b"]}


def without(cell, planned=None):
    """Return evidence of no run; a cell of the planned study has no result."""
    return Evidence("p", planned, pd.DataFrame(), pd.DataFrame, pd.DataFrame(), {}, [cell])


def missed(**claim):
    return judging.judge(CLAIM | claim, without(CELL)).iloc[0]


@pytest.mark.parametrize(
    "claim",
    [
        {},
        {"cells": {"rank": 50}},
        {"cells": {"rank": [20, 50]}},
        {"cells": {"unknown": 1}},
        {"epsilons": [2, 8]},
        {"of": "rank", "better": 50, "worse": [20]},
    ],
)
def test_a_claim_that_speaks_of_the_cell_is_open_with_the_reason(claim):
    row = missed(**claim)
    assert verdict_of(row) == words.UNFINISHED
    reason = "b, rank=50, ε = 8.0; RuntimeError: planted (results/logs/train/x.log)"
    assert row["about"] == f"not finished: {reason}"


FREE = CELL | {"epsilon": "inf"}


@pytest.mark.parametrize(
    ("claim", "others", "opens"),
    [
        ({}, [CELL | {"epsilon": 2.0}], False),
        ({"epsilons": [2, "inf"]}, [CELL | {"epsilon": 2.0}], True),
        ({"cells": {"epsilon": "inf"}}, [CELL | {"epsilon": 2.0}], True),
        ({"cells": {"rank": 50}}, [CELL | {"variant": {"rank": 20}}], True),
        ({"kind": "number", "table": "table 1"}, [CELL | {"epsilon": 2.0}], True),
        ({}, [], True),  # without a budget at all, what is claimed is asked without one
    ],
)
def test_a_cell_without_privacy_opens_what_is_asked_of_it(claim, others, opens):
    evidence = without(FREE, {"dataset": "mnist", "cells": [FREE, *others]})
    assert bool(judging.unfinished(CLAIM | claim, evidence)) == opens


@pytest.mark.parametrize(
    "claim",
    [
        {"worse": ["c"]},
        {"cells": {"rank": 20}},
        {"epsilons": [2]},
        {"of": "rank", "better": 20, "worse": [10]},
        {"status": "not judged"},
    ],
)
def test_another_claim_is_judged_as_ever(claim):
    assert verdict_of(missed(**claim)) in (words.NOT_RUN, words.NOT_JUDGED)


@pytest.mark.parametrize(("dataset", "opens"), [("mnist", True), ("cifar10", False)])
def test_a_claim_on_another_data_set_is_not_open_for_a_cell_of_this(dataset, opens):
    evidence = without(CELL, {"dataset": "mnist-scatter", "cells": []})
    asked = CLAIM | {"cells": {"dataset": dataset}}
    assert bool(judging.unfinished(asked, evidence)) == opens
