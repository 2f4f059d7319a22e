"""Verdicts on made-up evidence whose truth is known."""

import math

import judged
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from dpfl.errors import UserError
from dpfl.judging import contrasts, power
from dpfl.judging import judge as judging

HEAD = {"id": "some", "where": "table 1", "quote": "words", "study": "main"}
WINS = ("replicated", "replicated, small", "wins")
REPEATS, FEW = 300, 120
"""Of a simulation; few where a claim has many parts, which take long to judge."""


def judge(evidence, **claim):
    return judging.judge(HEAD | claim, evidence)


def verdict(evidence, **claim):
    return judge(evidence, **claim)["verdict"].iloc[0]


def two(better, worse, seeds=5, sd=0.3, epsilons=(2.0, 4.0), rng=None, **how):
    """Return evidence on `a` and `b` of some true accuracies, at equal epsilons."""
    rng = rng or np.random.default_rng(1)
    sides = {
        (method, epsilon, ()): judged.normal(rng, mean, seeds, sd)
        for epsilon in epsilons
        for method, mean in (("a", better), ("b", worse))
    }
    return judged.of(sides, **how)


ORDERING = {"kind": "ordering", "better": "a", "worse": ["b"]}


def bound(level, repeats=REPEATS):
    """Return how many false verdicts of some repeats a stated level allows, with 99.9 %."""
    return stats.binom.isf(1e-3, repeats, level)


def repeated(make, claim, repeats=REPEATS):
    """Return how often made-up evidence gets a verdict of WINS."""
    rng = np.random.default_rng(20)
    return sum(verdict(make(rng), **claim) in WINS for _ in range(repeats))


def test_equal_methods_are_rarely_found_in_order():
    found = repeated(lambda rng: two(90, 90, epsilons=(2.0,), rng=rng), ORDERING)
    assert 0 < found <= bound(0.025)


def test_one_equal_opponent_among_beaten_ones_keeps_the_level():
    claim = ORDERING | {"worse": ["b", "c"]}

    def make(rng):
        means = {"a": 92, "b": 92, "c": 80}
        return judged.of({(m, 2.0, ()): judged.normal(rng, mean) for m, mean in means.items()})

    assert 0 < repeated(make, claim, FEW) <= bound(0.025, FEW)


def test_equal_at_one_epsilon_keeps_the_level():
    def make(rng):
        means = {("a", 2.0): 92, ("b", 2.0): 92, ("a", 4.0): 95, ("b", 4.0): 90}
        return judged.of({(*key, ()): judged.normal(rng, mean) for key, mean in means.items()})

    assert 0 < repeated(make, ORDERING, FEW) <= bound(0.025, FEW)


def test_a_control_that_is_as_good_keeps_the_level():
    claim = {"kind": "controls", "better": "a", "controls": ["b", "c"], "subject": "belief"}

    def make(rng):
        means = {"a": 92, "b": 92, "c": 80}
        return judged.of({(m, 2.0, ()): judged.normal(rng, mean) for m, mean in means.items()})

    assert 0 < repeated(make, claim, FEW) <= bound(0.025, FEW)


def ranks(rng, means, epsilons=(2.0,), seeds=5, sd=0.3):
    return judged.of(
        {
            ("a", epsilon, (("rank", rank),)): judged.normal(rng, mean, seeds, sd)
            for epsilon in epsilons
            for rank, mean in means.items()
        }
    )


RISES = {"kind": "trend", "method": "a", "over": "rank", "direction": "rises"}
BEST = {"kind": "trend", "method": "a", "over": "rank", "direction": "best-at", "value": 50}


def test_a_flat_setting_rarely_rises():
    found = repeated(lambda rng: ranks(rng, {10: 90, 50: 90, 200: 90, 500: 90}), RISES)
    assert 0 < found <= bound(0.025)


def test_a_tie_for_the_best_keeps_the_level():
    found = repeated(lambda rng: ranks(rng, {10: 80, 50: 90, 200: 90, 500: 80}), BEST, FEW)
    assert 0 < found <= bound(0.025, FEW)


def test_equal_speed_is_rarely_found_faster():
    def make(rng):
        start = rng.normal(0, 2, 10)

        def curve(method, epsilon, seed):
            at = start[seed + 5 * (method == "b")]
            return [1 / (1 + math.exp(-(t - 12 - at) / 3)) for t in range(30)]

        return judged.of({(m, 2.0, ()): np.full(5, 90.0) for m in "ab"}, curves=curve)

    claim = {"kind": "convergence", "better": "a", "worse": ["b"], "accuracy": 50}
    assert repeated(make, claim, FEW) <= bound(1 / 32, FEW)


def test_a_printed_gain_that_is_ours_rarely_differs():
    """At a margin of nothing `differs` is a two-sided test at 5 %."""
    rng = np.random.default_rng(4)
    claim = {"kind": "gap", "better": "a", "worse": "b", "points": 1.0}
    found = [
        verdict(two(91, 90, epsilons=(2.0,), rng=rng, margin=0.0), **claim) for _ in range(300)
    ]
    assert 0 < found.count("differs") <= bound(0.05)
    assert set(found) <= {"differs", "inconclusive"}


@pytest.mark.parametrize(
    ("better", "worse", "expected"),
    [
        (95, 90, "replicated"),
        (90.45, 90, "replicated, small"),
        (90, 95, "reversed"),
        (90.05, 90, "not replicated"),
    ],
)
def test_an_effect_is_found(better, worse, expected):
    assert verdict(two(better, worse, seeds=8, sd=0.1), **ORDERING) == expected


def test_several_budgets_together_are_told_without_the_p_of_another_part():
    rng = np.random.default_rng(5)
    means = {("a", 2.0, ()): 95, ("b", 2.0, ()): 90, ("a", 8.0, ()): 90, ("b", 8.0, ()): 91}
    found = judged.of({cell: judged.normal(rng, mean) for cell, mean in means.items()})
    table = judge(found, **ORDERING)
    said = {row["part"]: judging.words(row) for _, row in table.iterrows()}
    assert " points where it is worst off [" in said["overall"] and "p " not in said["overall"]
    assert all(", p " in said[part] for part in said if "epsilon" in part or "pooled" in part)


def test_controls_have_words_of_their_own():
    claim = {"kind": "controls", "better": "a", "controls": ["b", "c"], "subject": "belief"}
    rng = np.random.default_rng(5)

    def of(**means):
        return judged.of({(m, 2.0, ()): judged.normal(rng, mean) for m, mean in means.items()})

    assert verdict(of(a=95, b=90, c=91), **claim) == "wins"
    assert verdict(of(a=95, b=97, c=91), **claim) == "does not win"
    assert verdict(of(a=95, b=90), **claim) == "control missing"
    assert verdict(of(b=95, c=90), **claim) == "not run"
    assert "belief" in judging.words(judge(of(a=95, b=90, c=91), **claim).iloc[0])


@pytest.mark.parametrize(
    ("means", "direction", "expected"),
    [
        ({10: 90, 50: 92, 200: 94}, "rises", "replicated"),
        ({10: 90, 50: 92, 200: 94}, "falls", "reversed"),
        ({10: 94, 50: 92, 200: 90}, "falls", "replicated"),
        ({10: 90, 50: 95, 200: 90}, "rises", "not replicated"),
        ({10: 90}, "rises", "not run"),
    ],
)
def test_a_trend_is_found(means, direction, expected):
    found = ranks(np.random.default_rng(6), means, (2.0, 4.0), sd=0.1)
    assert verdict(found, **RISES | {"direction": direction}) == expected


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ({10: 90, 50: 94, 200: 91}, "replicated"),
        ({10: 90, 50: 91, 200: 94}, "not replicated"),
        ({10: 93, 50: 91, 200: 94}, "reversed"),
        ({10: 90, 200: 91}, "not run"),
        ({50: 90}, "not run"),
    ],
)
def test_the_best_value_is_found(means, expected):
    assert verdict(ranks(np.random.default_rng(7), means), **BEST) == expected


def test_a_trend_over_epsilon_leaves_out_runs_without_privacy():
    rng = np.random.default_rng(8)
    sides = {("a", e, ()): judged.normal(rng, m) for e, m in ((2.0, 90), (8.0, 93), (np.inf, 80))}
    claim = {"kind": "trend", "method": "a", "over": "epsilon", "direction": "rises"}
    assert verdict(judged.of(sides), **claim) == "replicated"
    assert verdict(judged.of(sides), **claim, epsilons=[2, "inf"]) == "reversed"
    assert verdict(judged.of(sides), **claim, epsilons=[2, 4]) == "not run"


def test_a_trend_over_rounds_follows_the_curves():
    found = two(
        90, 90, curves=lambda m, e, s: [0.1, *(0.5 + 0.01 * t + 0.001 * s for t in range(9))]
    )
    claim = {"kind": "trend", "method": "a", "over": "rounds", "direction": "rises"}
    table = judge(found, **claim)
    assert table["verdict"].iloc[0] == "replicated"
    assert table["difference"].iloc[0] == pytest.approx(8.0)  # round 0 is untrained
    assert verdict(found, **claim | {"direction": "falls"}) == "reversed"


def test_the_contrast_is_that_of_a_fitted_line():
    values = np.random.default_rng(9).normal(90, 1, (7, 4))
    slopes = [np.polyfit(range(4), own, 1)[0] for own in values]
    assert contrasts.change(values) == pytest.approx(3 * np.array(slopes))
    assert contrasts.change(values[:, :2]) == pytest.approx(values[:, 1] - values[:, 0])


def test_a_trend_needs_something_that_varies():
    found = two(90, 90)
    with pytest.raises(UserError, match="does not vary"):
        verdict(found, **RISES)
    with pytest.raises(UserError, match="best-at needs a setting"):
        verdict(found, **BEST | {"over": "epsilon"})
    named = judged.of({("a", 2.0, (("rank", r),)): np.full(5, 90.0) for r in ("low", "high")})
    with pytest.raises(UserError, match="expected numbers"):
        verdict(named, **RISES)


def test_rounds_are_counted_and_a_run_that_never_gets_there_is_said():
    speed = {"a": 0.1, "b": 0.05, "c": 0.01}

    def curve(method, epsilon, seed):
        return [speed[method] * (t + 0.1 * seed) for t in range(11)]

    found = judged.of({(m, 2.0, ()): np.full(5, 90.0) for m in "abc"}, curves=curve)
    claim = {"kind": "convergence", "better": "a", "worse": ["b"], "accuracy": 40}
    one = judge(found, **claim).iloc[0]
    assert (one["difference"], one["verdict"]) == (4.0, "replicated")  # 40 % after 4 and 8 rounds
    late = judge(found, **claim | {"worse": ["c"]}).iloc[0]
    assert late["difference"] == pytest.approx(11 - 4)  # rounds 0 to 10, and one more
    assert "5 never get there, counted as one round more" in judging.words(late)
    assert verdict(found, **claim | {"better": "b", "worse": ["a"]}) == "reversed"


def test_the_accuracy_to_reach_may_be_the_others_own():
    def curve(method, epsilon, seed):
        return [0.9 if t >= (3 if method == "a" else 7) else 0.2 for t in range(11)]

    found = judged.of({(m, 2.0, ()): np.full(5, 90.0) for m in "ab"}, curves=curve)
    claim = {"kind": "convergence", "better": "a", "worse": ["b"], "within": 1.0}
    assert judge(found, **claim)["difference"].iloc[0] == 4.0


@pytest.mark.parametrize(
    ("points", "expected"), [(1.0, "matches"), (4.0, "differs"), (1.95, "inconclusive")]
)
def test_a_gain_is_compared_with_the_printed_one(points, expected):
    claim = {"kind": "gap", "better": "a", "worse": "b", "points": points}
    assert verdict(two(91, 90, seeds=8, sd=0.1), **claim) == expected


@pytest.mark.parametrize(
    ("better", "points", "expected"),
    [
        (89.5, 0.4, "differs"),
        (90.5, -0.4, "differs"),
        (89.5, -0.4, "matches"),
        (90.5, 0, "matches"),
    ],
)
def test_a_loss_matches_no_gain_however_small(better, points, expected):
    claim = {"kind": "gap", "better": "a", "worse": "b", "points": points}
    assert verdict(two(better, 90, seeds=8, sd=0.05), **claim) == expected


def printed(rows):
    """Return printed numbers beside the runs of `two`: (row, method, epsilon, value)."""
    return pd.DataFrame(
        {
            "table": "table 1",
            "row": name,
            "metric": "accuracy_pct",
            "reading": "",
            "epsilon": epsilon,
            "printed": value,
            "study": "main" if method else np.nan,
            "method": method or np.nan,
            "runs": " ".join(f"{method}-{epsilon:g}-{seed}" for seed in range(8)) * bool(method),
        }
        for name, method, epsilon, value in rows
    )


def test_a_gain_is_the_difference_of_two_printed_numbers():
    rows = [("A", "a", 2.0, 96.5), ("B", "b", 2.0, 95), ("A", "a", 4.0, 97), ("B", "b", 4.0, 96)]
    rows += [("A", "", 8.0, 98.0), ("B", "", 8.0, 97.5)]
    found = two(91.5, 90, seeds=8, sd=0.1, printed=printed(rows))
    claim = {"kind": "gap", "better": "a", "worse": "b", "table": "table 1"}
    table = judge(found, **claim).set_index("epsilon")
    assert table["printed"].tolist()[1:] == [1.5, 1.0, 0.5]
    assert table["verdict"].tolist() == ["not run", "matches", "matches", "not run"]
    assert verdict(found, **claim, epsilons=[2, 4]) == "matches"
    assert table.loc[2.0, "ours"] == pytest.approx(1.5, abs=0.2)


def test_a_printed_baseline_may_be_weak():
    """Our DP-SGD, b, reaches 90."""
    claim = {"kind": "gap", "better": "a", "worse": "b", "table": "table 1"}

    def weak(base, **extra):
        rows = [("A", "a", 2.0, base + 1), ("B", "b", 2.0, base)]
        found = two(89, 90, seeds=8, sd=0.1, epsilons=(2.0,), printed=printed(rows), **extra)
        return judge(found, **claim)["weak_baseline"].tolist()[0]

    assert weak(89.5) is True
    assert weak(90.5) is False
    assert weak(89.5, certified=False) == weak(89.5, estimator="fsdp") == ""


def test_needed_seeds_are_those_of_simulated_tests():
    gain, sd, rng = 0.5, 0.6, np.random.default_rng(10)
    n = int(power.needed(gain, sd))
    for seeds, low, high in ((n, 0.79, 0.84), (n - 1, 0.74, 0.805)):
        draws = rng.normal(gain, sd, (40_000, seeds))
        assert low < (stats.ttest_1samp(draws, 0, axis=1).pvalue < 0.05).mean() < high
    assert math.isnan(power.needed(0.0, sd))
    assert math.isnan(power.needed(1e-4, 1.0))
    assert power.needed(1.0, 0.0) == power.needed(20.0, 1.0) == 3


def test_luck_is_the_mean_of_the_three_largest_of_ten():
    def largest(k):
        """Return the mean of the k-th largest of ten, from its density."""
        count = math.factorial(10) / (math.factorial(k - 1) * math.factorial(10 - k))
        density = lambda x: x * stats.norm.cdf(x) ** (10 - k) * stats.norm.sf(x) ** (k - 1)  # noqa: E731
        return count * integrate.quad(lambda x: density(x) * stats.norm.pdf(x), -9, 9)[0]

    exact = sum(map(largest, (1, 2, 3))) / 3
    assert exact == pytest.approx(1.065, abs=1e-3)
    assert exact == pytest.approx(power.BEST_THREE_OF_TEN, abs=0.01)


def losses(rows):
    """Return printed losses beside prices: (epochs, printed, reading, ours, verdict)."""
    return pd.DataFrame(
        {
            "table": "table 4",
            "row": "m",
            "metric": "epsilon",
            "reading": reading,
            "epochs": epochs,
            "printed": value,
            "study": "prices" if reading else np.nan,
            "method": np.nan,
            "ours": ours,
            "verdict": word,
            "runs": "",
        }
        for epochs, value, reading, ours, word in rows
    )


def priced(rows):
    found = two(90, 90, printed=losses(rows), tables={"": pd.DataFrame({"x": [1]})})
    claim = {k: v for k, v in HEAD.items() if k != "study"}
    claim |= {"kind": "privacy-loss", "analysis": "prices", "table": "table 4", "rows": ["m"]}
    return judging.judge(claim, found)


YES, NO = (1.0, "matches"), (1.4, "differs")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(25, 1.0, "x", *YES), (50, 1.0, "x", *YES)], "matches"),
        ([(25, 1.0, "x", *YES), (50, 1.0, "x", *NO)], "differs"),
        ([(25, 1.0, "x", *NO), (25, 1.0, "y", *YES)], "matches"),
        (
            [(25, 1.0, "x", *YES), (50, 1.0, "x", *NO), (25, 1.0, "y", *NO), (50, 1.0, "y", *YES)],
            "differs",
        ),
        ([(25, 1.0, "x", *YES), (50, 1.0, "", np.nan, "not run")], "not run"),
        ([(25, 1.0, "x", *NO), (50, 1.0, "", np.nan, "not run")], "differs"),
    ],
)
def test_losses_match_if_all_do_under_one_reading(rows, expected):
    table = priced(rows)
    assert table["verdict"].iloc[0] == expected
    assert set(table["privacy"]) == {"no claim"}
    assert table["printed"].notna().sum() >= len(rows)


def test_a_loss_that_is_not_printed_is_an_error():
    with pytest.raises(UserError, match="nothing is printed at table table 4, row"):
        judging.judge(
            HEAD | {"kind": "privacy-loss", "analysis": "p", "table": "table 4", "rows": ["k"]},
            two(90, 90, printed=losses([(25, 1.0, "x", *YES)])),
        )


def test_values_of_a_setting_are_compared_within_every_method():
    rng = np.random.default_rng(11)
    sides = {
        (method, 2.0, (("budget", budget),)): judged.normal(rng, mean + lead)
        for method, mean in (("sgd", 90), ("adam", 85))
        for budget, lead in (("uniform", 0), ("decay", 3))
    }
    claim = {"kind": "ordering", "of": "budget", "better": "decay", "worse": ["uniform"]}
    table = judge(judged.of(sides), **claim)
    assert table["verdict"].iloc[0] == "replicated"
    assert {"against uniform, sgd, epsilon 2", "against uniform, adam, epsilon 2"} <= set(
        table["part"]
    )
    gap = {"kind": "gap", "of": "budget", "better": "decay", "worse": "uniform", "points": 3.0}
    assert verdict(judged.of(sides), **gap) == "matches"
    with pytest.raises(UserError, match="'budgets' is not varied; did you mean 'budget'"):
        judge(judged.of(sides), **claim | {"of": "budgets"})


SEEDED = [
    ORDERING,
    {"kind": "controls", "better": "a", "controls": ["b", "c"], "subject": "belief"},
    {"kind": "gap", "better": "a", "worse": "b", "points": 1.0},
    {"kind": "convergence", "better": "a", "worse": ["b"], "accuracy": 40},
    {"kind": "trend", "method": "a", "over": "epsilon", "direction": "rises"},
    {"kind": "trend", "method": "a", "over": "rounds", "direction": "rises"},
]


def named(claim):
    return f"{claim['kind']}-{claim.get('over', '')}"


def three(seeds, level=lambda method, epsilon, seed: 90.0 + seed):
    return judged.of(
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
    assert verdict(three(seeds), **claim) == "too few seeds"


@pytest.mark.parametrize("claim", SEEDED, ids=named)
def test_a_missing_epsilon_is_not_run(claim):
    found = three(5, lambda m, e, seed: 90.0 + seed + (m == "a") + e)
    assert verdict(found, **claim, epsilons=[2, 16]) in {"not run", "too few seeds"}


@pytest.mark.parametrize("claim", SEEDED[:3], ids=named)
def test_equal_runs_of_every_seed_are_told(claim):
    """Without any spread an interval is a point: nothing is divided by it."""
    table = judge(three(5), **claim)
    assert table["verdict"].iloc[0] in {"not replicated", "does not win", "matches"}
    assert (table["difference_low"] == table["difference_high"]).iloc[1:].all()


def test_pairs_of_which_one_run_failed_are_not_compared_and_told():
    def level(method, epsilon, seed):
        return 10.0 if (method, epsilon, seed) == ("a", 2.0, 0) else 90.0 + seed + (method == "a")

    for seeds, expected in ((5, "too few seeds"), (6, "replicated")):
        table = judge(three(seeds, level), **ORDERING)
        assert table["failed"].iloc[0] == 1
        assert (table["n"].iloc[0], table["verdict"].iloc[0]) == (seeds - 1, expected)
        assert table["difference"].iloc[0] == pytest.approx(1)
        told = judging.words(table.iloc[0])
        assert "1 run failed: compared are the pairs in which both trained." in told


@pytest.mark.parametrize("claim", [SEEDED[2] | {"epsilons": [2]}, SEEDED[4]], ids=named)
def test_gains_and_trends_are_of_runs_that_trained(claim):
    """A sixth seed that fails changes nothing but the number of failures."""

    def level(method, epsilon, seed):
        lost = (method, epsilon, seed) == ("a", 2.0, 5)
        return 10.0 if lost else 90.0 + 0.1 * seed + 2 * (method == "a") + epsilon

    before, after = (judge(three(n, level), **claim).iloc[0] for n in (5, 6))
    keys = ["n", "verdict", "difference", "difference_low", "difference_high"]
    assert before[keys].tolist() == after[keys].tolist()
    assert (before["failed"], after["failed"]) == (0, 1)


def test_a_printed_number_stands_beside_the_runs_that_trained():
    values = [96.0, 96.1, 96.2, 95.9, 95.8, 11.35]
    found = judged.of({("a", 2.0, ()): values}, printed=printed([("A", "a", 2.0, 96.3)]))
    claim = {"kind": "number", "table": "table 1", "row": "A", "method": "a"}
    whole = judge(found, **claim).iloc[0]
    assert (whole["n"], whole["failed"], whole["verdict"]) == (5, 1, "matches")
    expected = stats.ttest_1samp(values[:5], 0).confidence_interval(0.95)
    assert (whole["ours_low"], whole["ours_high"]) == pytest.approx((expected.low, expected.high))
    assert "1 run failed: compared are the runs that trained." in judging.words(whole)


def test_a_race_counts_the_run_that_failed_and_skips_the_goal_that_did():
    claim = {"kind": "convergence", "better": "a", "worse": ["b"], "within": 1.0, "epsilons": [2]}
    for lost, seeds in (("a", 6), ("b", 5)):
        evidence = three(6, lambda m, e, s, lost=lost: 10.0 if (m, s) == (lost, 0) else 40.0)
        assert judge(evidence, **claim)["n"].iloc[0] == seeds


def test_an_accuracy_that_is_no_number_is_an_error():
    found = three(5, lambda m, e, seed: np.nan if (m, seed) == ("a", 0) else 90.0 + seed)
    found.runs["trained"] = True
    with pytest.raises(UserError, match="no finite accuracy"):
        verdict(found, **ORDERING)


def test_a_curve_that_is_no_number_is_at_chance_and_never_there():
    found = judged.of(
        {(m, 2.0, ()): np.full(5, 90.0) for m in "ab"},
        curves=lambda m, e, s: [0.1 * t if m == "b" else np.nan for t in range(8)],
    )
    claim = {"kind": "convergence", "better": "a", "worse": ["b"], "accuracy": 40}
    assert verdict(found, **claim) == "reversed"
    flat = {"kind": "trend", "method": "a", "over": "rounds", "direction": "rises"}
    assert verdict(found, **flat) == "not replicated"


accuracies = st.lists(st.integers(8600, 9000), min_size=10, max_size=10)
"""In hundredths of a percent, so near that no run fails."""


@settings(max_examples=40, deadline=None)
@given(accuracies, st.integers(-1000, 900))
def test_a_constant_added_to_both_changes_no_verdict(values, constant):
    def of(shift):
        points = (np.array(values) + shift) / 100
        return judged.of({("a", 2.0, ()): points[:5], ("b", 2.0, ()): points[5:]})

    for claim in SEEDED[:1] + SEEDED[2:3]:
        before, after = (judge(of(shift), **claim) for shift in (0, constant))
        assert before["verdict"].tolist() == after["verdict"].tolist()


MIRRORED = {"replicated": "reversed", "replicated, small": "reversed"}


@settings(max_examples=40, deadline=None)
@given(accuracies)
def test_sides_that_change_places_mirror_the_rows(values):
    points = np.array(values) / 100
    found = judged.of({("a", 2.0, ()): points[:5], ("b", 2.0, ()): points[5:]})
    one = judge(found, **ORDERING).iloc[0]
    other = judge(found, **ORDERING | {"better": "b", "worse": ["a"]}).iloc[0]
    ends = ["difference", "difference_low", "difference_high"]
    mirrored = -other[[ends[0], ends[2], ends[1]]].to_numpy(dtype=float)
    assert one[ends].to_numpy(dtype=float) == pytest.approx(mirrored)
    assert one["p"] == pytest.approx(other["p"])
    for here, there in ((one, other), (other, one)):
        if here["verdict"] in MIRRORED:
            assert there["verdict"] == MIRRORED[here["verdict"]]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(-200, 300), min_size=20, max_size=20))
def test_a_part_excludes_zero_exactly_if_its_own_p_does(gaps):
    """Two opponents at two epsilons; the whole's p is the largest, its sides apart."""
    table = np.array(gaps).reshape(2, 2, 5) / 100
    sides = {("a", e, ()): np.full(5, 90.0) for e in (2.0, 4.0)}
    for at, name in enumerate("bc"):
        sides |= {(name, e, ()): 90 - table[at, i] for i, e in enumerate((2.0, 4.0))}
    found = judge(judged.of(sides), **ORDERING | {"worse": ["b", "c"]})
    for _, row in found[np.isfinite(found["epsilon"])].iterrows():
        if abs(row["p_holm"] - 0.05) > 1e-9:
            excludes = row["difference_low"] > 0 or row["difference_high"] < 0
            assert excludes == (row["p_holm"] < 0.05)
    assert (found["p_holm"] >= found["p"] - 1e-12).iloc[1:].all()


def test_gaps_that_cancel_over_epsilon_are_no_gap():
    gaps = {1.0: 0.3, 2.0: -0.1, 4.0: -0.2}
    base = np.array([96, 96.2, 95.9, 96.4, 96.1])
    sides = {(m, e, ()): base + (m == "a") * gap for e, gap in gaps.items() for m in "ab"}
    pooled = judge(judged.of(sides), **ORDERING).set_index("part").loc["against b, pooled"]
    assert (pooled["difference"], pooled["p"], pooled["verdict"]) == (0, 1, "not replicated")
