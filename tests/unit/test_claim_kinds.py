"""Each kind of claim finds an effect that is there, and says it in its words."""

from dataclasses import replace

import judged
import numpy as np
import pandas as pd
import pytest
from claims_of_runs import (
    BEST,
    CONTROLS,
    ORDERING,
    OVER_EPSILON,
    OVER_ROUNDS,
    RACE,
    RISES,
    drawn,
    exact,
    judge,
    ranks,
    two,
    verdict,
)
from closed_forms import LOOK
from refusals import refuses
from scipy import stats

from dpfl.base.errors import UserError
from dpfl.judging import contrasts
from dpfl.report import claims_table
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import verdict_of


@pytest.mark.parametrize(
    ("better", "worse", "expected"),
    [
        (95, 90, words.HOLDS),
        (90.45, 90, words.SMALL),
        (90, 95, words.OPPOSITE),
        (90.05, 90, words.NO_DIFFERENCE),
    ],
)
def test_an_effect_is_found(better, worse, expected):
    assert verdict(two(better, worse, seeds=8, sd=0.1), **ORDERING) == expected


def test_several_opponents_at_one_budget_are_told_without_the_p_of_another():
    """One opponent is beaten and one is ahead: all together point nowhere."""
    rng = np.random.default_rng(5)
    whole = judge(drawn(rng, a=90, b=88, c=92), **ORDERING | {"worse": ["b", "c"]}).iloc[0]
    assert whole["p"] == 1 and np.isnan(whole["p_holm"])


@pytest.mark.parametrize(("better", "worse"), [("a", "b"), ("b", "a")])
def test_a_cell_that_one_side_alone_has_leaves_the_claim_open(better, worse):
    rng = np.random.default_rng(5)
    places = {("a", 10): 95, ("b", 10): 90, ("b", 50): 90}
    found = judged.found(
        {(m, 2.0, (("rank", r),)): judged.normal(rng, at) for (m, r), at in places.items()}
    )
    table = judge(found, kind="ordering", better=better, worse=[worse]).set_index("part")
    assert verdict_of(table.loc[f"against {worse}, rank=50, epsilon 2"]) == words.NOT_RUN
    assert verdict_of(table.iloc[0]) == (words.NOT_RUN if better == "a" else words.DOES_NOT_HOLD)


def test_an_opponent_that_never_ran_is_not_run_in_every_row():
    table = judge(two(95, 90), **ORDERING | {"worse": ["b", "z"]}).set_index("part")
    own = table[table.index.str.startswith("against z")]
    assert own["needs"].tolist() == [words.NOT_RUN.needs] * 4  # both budgets, each, and pooled


@pytest.mark.parametrize("epsilons", [[2, 8], [8, 2], [8, 2.0, "2"]])
def test_the_order_in_which_a_claim_names_its_budgets_changes_nothing(epsilons):
    rng = np.random.default_rng(8)
    sides = {("a", e, ()): judged.normal(rng, m) for e, m in ((2.0, 90), (8.0, 93))}
    whole = judge(judged.found(sides), **OVER_EPSILON, epsilons=epsilons).iloc[0]
    assert verdict_of(whole) == words.HOLDS and whole["about"].endswith("epsilon 2 to 8")


def test_a_method_is_better_than_all_of_two_controls_or_worse_than_one():
    rng = np.random.default_rng(5)
    assert verdict(drawn(rng, a=95, b=90, c=91), **CONTROLS) == words.HOLDS
    assert verdict(drawn(rng, a=95, b=97, c=91), **CONTROLS) == words.DOES_NOT_HOLD
    assert verdict(drawn(rng, a=95, b=90), **CONTROLS) == words.CONTROL_MISSING
    assert verdict(drawn(rng, a=95, b=97), **CONTROLS) == words.DOES_NOT_HOLD  # one is enough
    assert verdict(drawn(rng, b=95, c=90), **CONTROLS) == words.NOT_RUN
    assert "belief" in judge(drawn(rng, a=95, b=90, c=91), **CONTROLS).iloc[0]["about"]


@pytest.mark.parametrize(
    ("means", "direction", "expected"),
    [
        ({10: 90, 50: 92, 200: 94}, "rises", words.HOLDS),
        ({10: 90, 50: 92, 200: 94}, "falls", words.OPPOSITE),
        ({10: 94, 50: 92, 200: 90}, "falls", words.HOLDS),
        ({10: 90, 50: 95, 200: 90}, "rises", words.NO_DIFFERENCE),
        ({10: 90}, "rises", words.NOT_RUN),
    ],
)
def test_a_trend_is_found(means, direction, expected):
    found = ranks(np.random.default_rng(6), means, (2.0, 4.0), sd=0.1)
    assert verdict(found, **RISES | {"direction": direction}) == expected


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({10: 90, 50: 94, 200: 91}, words.HOLDS),
        ({10: 90, 50: 91, 200: 94}, words.DOES_NOT_HOLD),
        ({10: 93, 50: 91, 200: 94}, words.OPPOSITE),
        ({10: 90, 200: 91}, words.NOT_RUN),
        ({50: 90}, words.NOT_RUN),
    ],
)
def test_the_best_value_is_found(means, expected):
    assert verdict(ranks(np.random.default_rng(7), means), **BEST) == expected


def test_the_best_value_may_be_asked_against_some_alone():
    found = ranks(np.random.default_rng(5), {10: 90, 50: 93, 200: 93})
    against = judge(found, **BEST | {"worse": [10]})
    assert against["about"].iloc[0] == "rank 50 against 10, a, epsilon 2"
    assert set(against["part"]) == {"overall", "against 10, a, epsilon 2"}
    assert verdict_of(against.iloc[0]) == words.HOLDS != verdict(found, **BEST)


def test_a_trend_over_epsilon_leaves_out_runs_without_privacy():
    rng = np.random.default_rng(8)
    sides = {("a", e, ()): judged.normal(rng, m) for e, m in ((2.0, 90), (8.0, 93), (np.inf, 80))}
    assert verdict(judged.found(sides), **OVER_EPSILON) == words.HOLDS
    assert verdict(judged.found(sides), **OVER_EPSILON, epsilons=[2, "inf"]) == words.OPPOSITE
    assert verdict(judged.found(sides), **OVER_EPSILON, epsilons=[2, 4]) == words.NOT_RUN


def test_a_lead_that_falls_is_a_trend_of_differences():
    """Both rise with ε; the lead is 3, 2 and 1 points, seed by seed."""
    base = {2.0: 90 + np.arange(5), 4.0: 92 - np.arange(5), 8.0: np.full(5, 94.0)}
    leads = {2.0: 3, 4.0: 2, 8.0: 1}
    sides = {(m, e, ()): at + (m == "a") * leads[e] for e, at in base.items() for m in "ab"}
    falls = OVER_EPSILON | {"worse": "b", "direction": "falls"}
    whole = judge(judged.found(sides), **falls).iloc[0]
    assert (verdict_of(whole), whole["difference"]) == (words.HOLDS, pytest.approx(2))
    assert len(whole["runs"].split()) == 30
    assert verdict(judged.found(sides), **falls | {"worse": "c"}) == words.NOT_RUN
    assert verdict(judged.found(sides), **falls | {"direction": "rises"}) == words.OPPOSITE


@pytest.mark.parametrize(
    ("free", "expected"), [(96, words.HOLDS), (90, words.DOES_NOT_HOLD), (85, words.DOES_NOT_HOLD)]
)
def test_a_gap_that_is_closed_has_to_be_there(free, expected):
    found = two(93, 90, seeds=8, sd=0.1)
    own = judged.normal(np.random.default_rng(2), free, 8, sd=0.1)
    without = judged.found({("n", np.inf, ()): own})
    table = judge(replace(found, free=without.runs.assign(cell=-1)), **ORDERING)
    assert verdict_of(table.iloc[0]) == expected
    whole, *parts = table.to_dict("records")
    assert claims_table.deciding_words(whole, parts).startswith("without") == (free < 96)
    gaps = table[table["part"].str.startswith("without privacy against b")]
    assert gaps["epsilon"].tolist() == [2.0, 4.0]
    assert gaps["difference"].tolist() == pytest.approx([free - 90] * 2, abs=0.5)
    assert verdict(found, **ORDERING) == words.HOLDS


def test_a_trend_over_rounds_follows_the_curves():
    found = two(
        90, 90, curves=lambda m, e, s: [0.1, *(0.5 + 0.01 * t + 0.001 * s for t in range(9))]
    )
    table = judge(found, **OVER_ROUNDS)
    assert verdict_of(table.iloc[0]) == words.HOLDS
    assert table["difference"].iloc[0] == pytest.approx(8.0)  # round 0 is untrained
    assert verdict(found, **OVER_ROUNDS | {"direction": "falls"}) == words.OPPOSITE


def test_a_run_that_ends_after_its_first_round_has_not_changed():
    """Training ends where weights are not finite any more; the run counts as it is."""
    rises = [0.1, *(0.5 + 0.01 * t for t in range(9))]
    found = two(90, 90, curves=lambda m, e, s: rises[: 2 if s == 0 else None])
    whole = judge(found, **OVER_ROUNDS).iloc[0]
    assert (whole["n"], whole["difference"]) == (5, pytest.approx(8.0 * 4 / 5))
    all_end = two(90, 90, curves=lambda m, e, s: rises[:2])
    assert verdict(all_end, **OVER_ROUNDS) == words.NOT_RUN


def test_a_trend_over_rounds_has_one_run_a_seed():
    curves = pd.DataFrame({"seed": [0, 0], "cell": [0, 1], "run": ["x", "y"], "round": 1, "at": 1})
    refuses(r"two runs of seed 0 \(y\), expected one", contrasts.of_curves, curves, "at")


def test_the_contrast_is_that_of_a_fitted_line():
    values = np.random.default_rng(9).normal(90, 1, (7, 4))
    slopes = [np.polyfit(range(4), own, 1)[0] for own in values]
    assert contrasts.change(values) == pytest.approx(3 * np.array(slopes))
    assert contrasts.change(values[:, :2]) == pytest.approx(values[:, 1] - values[:, 0])


def test_a_trend_needs_something_that_varies():
    found = two(90, 90)
    refuses("does not vary", verdict, found, **RISES)
    named = judged.found({("a", 2.0, (("rank", r),)): np.full(5, 90.0) for r in ("low", "high")})
    refuses("expected numbers", verdict, named, **RISES)


def test_rounds_are_counted_and_a_run_that_never_gets_there_is_said():
    speed = {"a": 0.1, "b": 0.05, "c": 0.01}

    def curve(method, epsilon, seed):
        return [speed[method] * (t + 0.1 * seed) for t in range(11)]

    found = exact(curve, a=90, b=90, c=90)
    one = judge(found, **RACE).iloc[0]
    assert one["difference"] == 4.0  # 40 % after 4 and 8 rounds
    assert verdict_of(one) == words.HOLDS
    rounding = np.sqrt(2 / 12 / 5)  # five differences of whole numbers, all alike
    low = 4 - stats.t.ppf((1 + LOOK) / 2, 4) * rounding
    assert one["difference_low"] == pytest.approx(low)
    assert one["p"] == pytest.approx(2 * stats.t.sf(4 / rounding, 4))
    late = judge(found, **RACE | {"worse": ["c"]}).iloc[0]
    assert late["difference"] == pytest.approx(11 - 4)  # rounds 0 to 10, and one more
    assert "5 never get there, counted as one round more" in late["about"]
    assert verdict(found, **RACE | {"better": "b", "worse": ["a"]}) == words.OPPOSITE


def test_budgets_that_a_claim_does_not_name_change_nothing_in_a_race():
    """One run of a is late at ε 2, where training has rounds 0 to 10; ε 8 has twice as many."""

    def curve(method, epsilon, seed):
        at = {"a": 99 if seed == 0 or epsilon == 8 else 2, "b": 10}[method]
        return [0.9 if t >= at else 0.2 for t in range(11 if epsilon == 2 else 21)]

    cells = {(m, e, ()): np.full(5, 90.0) for m in "ab" for e in (2.0, 8.0)}
    claim = RACE | {"epsilons": [2]}
    at_2 = {cell: runs for cell, runs in cells.items() if cell[1] == 2.0}
    alone, beside = (judge(judged.found(s, curves=curve), **claim).iloc[0] for s in (at_2, cells))
    assert alone["difference"] == pytest.approx((4 * 8 - 1) / 5)
    assert alone[["difference", "difference_low", "about"]].equals(
        beside[["difference", "difference_low", "about"]]
    )
    assert "(1 never gets there" in beside["about"]


def test_a_run_that_is_late_for_two_opponents_is_one_run():
    def curve(method, epsilon, seed):
        return [0.2 if method == "a" or t < 3 else 0.9 for t in range(11)]

    whole = judge(exact(curve, a=90, b=90, c=90), **RACE | {"worse": ["b", "c"]}).iloc[0]
    assert "(5 never get there" in whole["about"]


@pytest.mark.parametrize(("accuracy", "rounds"), [(0.098, 10), (0.1135, 20), (0.7, 33)])
@pytest.mark.parametrize("direction", ["rises", "falls"])
def test_curves_that_do_not_move_have_no_trend(accuracy, rounds, direction):
    found = exact(lambda m, e, s: [accuracy] * rounds, a=100 * accuracy)
    assert verdict(found, **OVER_ROUNDS | {"direction": direction}) == words.NO_DIFFERENCE


def test_values_of_a_setting_are_compared_within_every_method():
    rng = np.random.default_rng(11)
    sides = {
        (method, 2.0, (("budget", budget),)): judged.normal(rng, mean + lead)
        for method, mean in (("sgd", 90), ("adam", 85))
        for budget, lead in (("uniform", 0), ("decay", 3))
    }
    claim = {"kind": "ordering", "of": "budget", "better": "decay", "worse": ["uniform"]}
    table = judge(judged.found(sides), **claim)
    assert verdict_of(table.iloc[0]) == words.HOLDS
    assert {"against uniform, sgd, epsilon 2", "against uniform, adam, epsilon 2"} <= set(
        table["part"]
    )
    gap = {"kind": "gap", "of": "budget", "better": "decay", "worse": "uniform", "points": 3.0}
    assert verdict(judged.found(sides), **gap) == words.MATCHES
    with pytest.raises(UserError, match="'budgets' is not varied; did you mean 'budget'"):
        judge(judged.found(sides), **claim | {"of": "budgets"})
