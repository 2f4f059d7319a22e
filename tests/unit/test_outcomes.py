"""Which runs of a cell trained, against the rule itself, and shares against binomial tails."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpfl.seeds import outcomes

CHANCE = 15.0
accuracies = st.lists(st.floats(0, 100), max_size=10)


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([90.7, 55.7, 11.4], 1),  # the plain median, 55.7, is a failure itself
        ([90.7, 90.1, 55.7, 54.0, 53.0, 11.4, 9.8], 2),
        ([98.0, 92.0, 92.0, 92.0, 92.0], 5),  # one lucky run makes no failures
        ([98.6, 98.5, 98.7, 98.6, 9.8], 4),
        ([96.0, 90.9], 1),
        ([97.0, 94.0, 91.0], 3),
        ([11.4, 9.8, 15.0], 0),
        ([15.1], 1),
        ([90.0, np.nan], 1),
        ([], 0),
    ],
)
def test_runs_that_trained(values, count):
    assert outcomes.trained(values, CHANCE).sum() == count
    assert outcomes.trained(values[::-1], CHANCE).sum() == count


@given(st.integers(6500, 9000))
def test_a_run_five_points_under_the_others_to_the_example_trained(right):
    values = [100 * (n / 10_000) for n in (right, right, right, right, right - 500)]
    assert outcomes.trained(values, CHANCE).all()
    assert not outcomes.trained([*values[:4], 100 * ((right - 501) / 10_000)], CHANCE).all()


@given(accuracies)
def test_what_failed_is_at_chance_or_below_all_that_trained(values):
    found, values = outcomes.trained(values, CHANCE), np.array(values)
    assert found.any() == (values > CHANCE).any()
    if found.any():
        worst, best = values[found].min(), values[found].max()
        assert worst > CHANCE
        assert (values[~found] < worst).all()
        assert ((values[~found] < best - 5) | (values[~found] <= CHANCE)).all()


@given(st.lists(st.floats(60, 100), min_size=1))
def test_more_than_5_points_under_the_plain_median_is_a_failure(values):
    found, values = outcomes.trained(values, CHANCE), np.array(values)
    assert not found[values < np.median(values) - 5].any()


@given(st.lists(st.floats(60, 65), min_size=1), st.lists(st.floats(0, 49.9)), st.data())
def test_failures_do_not_take_the_median_up_to_three_in_four(good, bad, data):
    """The runs that trained lie close together, those that failed far below."""
    bad = bad[: data.draw(st.integers(0, 3 * len(good)))]
    found = outcomes.trained([*bad, *good], CHANCE)
    assert found.tolist() == [False] * len(bad) + [True] * len(good)


@given(st.lists(st.floats(15.1, 100), min_size=1, max_size=10), st.data())
def test_a_better_run_never_makes_another_one_train(values, data):
    """To raise one run can only lift the median that the others are held to."""
    at = data.draw(st.integers(0, len(values) - 1))
    raised = list(values)
    raised[at] = data.draw(st.floats(values[at], 100))
    before, after = (outcomes.trained(v, CHANCE) for v in (values, raised))
    others = np.arange(len(values)) != at
    assert not (after & ~before)[others].any()


@pytest.mark.parametrize(("k", "n"), [(0, 3), (1, 3), (3, 3), (4, 5), (2, 10), (10, 10)])
def test_the_share_has_the_tails_of_clopper_and_pearson(k, n):
    low, high = outcomes.share(k, n)
    assert low == 0 if k == 0 else stats.binom.sf(k - 1, n, low) == pytest.approx(0.025)
    assert high == 1 if k == n else stats.binom.cdf(k, n, high) == pytest.approx(0.025)


def cell(values):
    runs = pd.DataFrame({"accuracy": values})
    return runs.assign(trained=outcomes.trained(values, CHANCE))


def test_a_cell_has_two_outcomes():
    found = outcomes.outcome(cell([90.0, 91.0, 92.0, 40.0]))
    assert (found.n, found.trained, found.mean) == (4, 3, 91)
    expected = stats.ttest_1samp([90, 91, 92], 0).confidence_interval(0.95)
    assert found.half == pytest.approx(expected.high - 91)


@pytest.mark.parametrize(
    ("values", "trained", "mean"), [([90.0, 92.0, 40.0], 2, 91), ([10.0, 12.0], 0, 11)]
)
def test_below_three_trained_runs_there_is_no_interval(values, trained, mean):
    found = outcomes.outcome(cell(values))
    assert (found.trained, found.mean) == (trained, mean)
    assert np.isnan(found.accuracy.low) and np.isnan(found.half)
