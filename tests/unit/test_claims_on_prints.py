"""Claims about printed numbers: gains, losses and how many seeds they need."""

import math

import numpy as np
import pandas as pd
import pytest
from claims_of_runs import HEAD, judge, losses, printed, two, verdict, verdicts
from scipy import integrate, stats

from dpfl.base.errors import UserError
from dpfl.judging import judge as judging
from dpfl.seeds import power
from dpfl.words.vocabulary import DIFFERS, INCONCLUSIVE, MATCHES, NOT_RUN


@pytest.mark.parametrize(
    ("better", "sd", "points", "expected"),
    [
        (91, 0.1, 1.0, MATCHES),
        (91, 0.1, 4.0, DIFFERS),
        (91, 0.1, 1.95, INCONCLUSIVE),
        (89.5, 0.05, 0.4, DIFFERS),
        (90.5, 0.05, -0.4, DIFFERS),
        (89.5, 0.05, -0.4, MATCHES),
        (90.5, 0.05, 0, MATCHES),
        (89.5, 0.05, 0.01, MATCHES),  # 98.15 beside 98.14 is a tie
    ],
)
def test_a_gain_is_compared_with_the_printed_one_and_a_loss_matches_none(
    better, sd, points, expected
):
    claim = {"kind": "gap", "better": "a", "worse": "b", "points": points}
    assert verdict(two(better, 90, seeds=8, sd=sd), **claim) == expected


def test_a_gain_is_the_difference_of_two_printed_numbers():
    rows = [("A", "a", 2.0, 96.5), ("B", "b", 2.0, 95), ("A", "a", 4.0, 97), ("B", "b", 4.0, 96)]
    rows += [("A", "", 8.0, 98.0), ("B", "", 8.0, 97.5)]
    found = two(91.5, 90, seeds=8, sd=0.1, printed=printed(rows))
    claim = {"kind": "gap", "better": "a", "worse": "b", "table": "table 1"}
    table = judge(found, **claim).set_index("epsilon")
    assert table["printed"].tolist()[1:] == [1.5, 1.0, 0.5]
    assert verdicts(table) == [NOT_RUN, MATCHES, MATCHES, NOT_RUN]
    assert verdict(found, **claim, epsilons=[2, 4]) == MATCHES
    assert table.loc[2.0, "ours"] == pytest.approx(1.5, abs=0.2)


def test_a_printed_baseline_may_be_weak():
    """Our DP-SGD, b, reaches 90."""
    claim = {"kind": "gap", "better": "a", "worse": "b", "table": "table 1"}

    def weak(base, seeds=8, **extra):
        rows = [("A", "a", 2.0, base + 1), ("B", "b", 2.0, base)]
        found = two(89, 90, seeds=seeds, sd=0.1, epsilons=(2.0,), printed=printed(rows), **extra)
        return judge(found, **claim)["weak_baseline"].tolist()[0]

    assert weak(89.5) is True
    assert weak(90.5) is False
    assert weak(89.5, seeds=4) == ""
    praised = two(
        95, 90, epsilons=(2.0,), printed=printed([("A", "a", 2.0, 97), ("B", "b", 2.0, 94)])
    )
    assert judge(praised, **claim)["weak_baseline"].tolist()[0] is False  # 95 is of what is praised
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


def priced(rows):
    found = two(90, 90, printed=losses(rows), tables={"": pd.DataFrame({"x": [1]})})
    claim = {k: v for k, v in HEAD.items() if k != "study"}
    claim |= {"kind": "privacy-loss", "analysis": "prices", "table": "table 4", "rows": ["m"]}
    return judging.judge(claim, found)


YES, NO, NONE = (1.0, MATCHES), (1.4, DIFFERS), (np.nan, NOT_RUN)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([(25, 1.0, "x", *YES), (50, 1.0, "x", *YES)], MATCHES),
        ([(25, 1.0, "x", *YES), (50, 1.0, "x", *NO)], DIFFERS),
        ([(25, 1.0, "x", *NO), (25, 1.0, "y", *YES)], MATCHES),
        (
            [(25, 1.0, "x", *YES), (50, 1.0, "x", *NO), (25, 1.0, "y", *NO), (50, 1.0, "y", *YES)],
            DIFFERS,
        ),
        ([(25, 1.0, "x", *YES), (50, 1.0, "", *NONE)], NOT_RUN),
        ([(25, 1.0, "x", *NO), (50, 1.0, "", *NONE)], DIFFERS),
    ],
)
def test_losses_match_if_all_do_under_one_reading(rows, expected):
    table = priced(rows)
    assert verdicts(table)[0] == expected
    assert set(table["privacy"]) == {""}
    assert table["printed"].notna().sum() >= len(rows)


def test_a_loss_that_is_not_printed_is_an_error():
    with pytest.raises(UserError, match="nothing is printed at table table 4, row"):
        judging.judge(
            HEAD | {"kind": "privacy-loss", "analysis": "p", "table": "table 4", "rows": ["k"]},
            two(90, 90, printed=losses([(25, 1.0, "x", *YES)])),
        )
