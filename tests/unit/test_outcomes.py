"""Which runs of a cell trained, against the rule itself, and shares against binomial tails."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from dpfl.seeds import outcomes

CHANCE = 15.0


@pytest.mark.parametrize(
    ("values", "count"),
    [
        ([90.7, 55.7, 11.4], 2),  # seeds may spread
        ([98.6, 98.5, 98.7, 98.6, 9.8], 4),
        ([11.4, 9.8, 15.0], 0),
        ([15.1], 1),
        ([90.0, np.nan], 1),
        ([], 0),
    ],
)
def test_runs_that_trained(values, count):
    assert outcomes.trained(values, CHANCE).sum() == count


@pytest.mark.parametrize(("k", "n"), [(0, 3), (1, 3), (3, 3), (4, 5), (2, 10), (10, 10)])
def test_the_share_has_the_tails_of_clopper_and_pearson(k, n):
    low, high = outcomes.share(k, n)
    assert low == 0 if k == 0 else stats.binom.sf(k - 1, n, low) == pytest.approx(0.025)
    assert high == 1 if k == n else stats.binom.cdf(k, n, high) == pytest.approx(0.025)


def cell(values):
    runs = pd.DataFrame({"accuracy": values})
    return runs.assign(trained=outcomes.trained(values, CHANCE))


def test_a_cell_has_two_outcomes():
    found = outcomes.outcome(cell([90.0, 91.0, 92.0, 10.0]))
    assert (found.n, found.trained, found.mean) == (4, 3, 91)
    expected = stats.ttest_1samp([90, 91, 92], 0).confidence_interval(0.95)
    assert found.half == pytest.approx(expected.high - 91)
    spread = outcomes.outcome(cell([57.0, 60, 64, 68, 72]))  # none of them has failed
    assert (spread.trained, spread.mean) == (5, pytest.approx(64.2))


@pytest.mark.parametrize(
    ("values", "trained", "mean"), [([90.0, 92.0, 10.0], 2, 91), ([10.0, 12.0], 0, 11)]
)
def test_below_three_trained_runs_there_is_no_interval(values, trained, mean):
    found = outcomes.outcome(cell(values))
    assert (found.trained, found.mean) == (trained, mean)
    assert np.isnan(found.accuracy.low) and np.isnan(found.half)
