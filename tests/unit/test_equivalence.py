"""As accurate, or no worse: two one-sided tests, against scipy's and by simulation."""

import judged
import numpy as np
import pytest
from claims_of_runs import drawn, exact, judge, verdict, verdicts
from scipy import stats
from test_claim_errors_bounded import bound, repeated

from dpfl.seeds.pairing import Shares, family
from dpfl.seeds.verdicts import Equivalence
from dpfl.words import vocabulary as words

ALIKE = {"kind": "equivalence", "better": "a", "worse": ["b"]}
NO_WORSE = {**ALIKE, "asks": "no worse"}
BEST = {**ALIKE, "worse": ["b", "c"], "against": "best"}


@pytest.mark.parametrize(
    ("lead", "alike", "no_worse"),
    [
        (0.0, words.HOLDS, words.HOLDS),
        (-0.8, words.INCONCLUSIVE, words.INCONCLUSIVE),
        (-3.0, words.DOES_NOT_HOLD, words.DOES_NOT_HOLD),
        (0.8, words.INCONCLUSIVE, words.HOLDS),
        (3.0, words.DOES_NOT_HOLD, words.HOLDS),
    ],
)
def test_a_difference_is_within_the_margin_or_beyond_it(lead, alike, no_worse):
    found = exact(a=90 + lead + np.array([-0.4, -0.2, 0, 0.2, 0.4]), b=90)
    assert (verdict(found, **ALIKE), verdict(found, **NO_WORSE)) == (alike, no_worse)
    assert verdict(found, **ALIKE, margin=5) == words.HOLDS


def test_the_p_is_that_of_the_harder_of_two_tests():
    gaps = np.array([-0.6, 0.1, 0.3, 0.5, 0.2, 0.8])
    row = judge(exact(seeds=6, a=90 + gaps, b=90), **ALIKE).iloc[0]
    sides = [
        stats.ttest_1samp(gaps, end, alternative=way).pvalue
        for end, way in ((-1, "greater"), (1, "less"))
    ]
    assert row["p"] == pytest.approx(2 * max(sides))
    one = judge(exact(seeds=6, a=90 + gaps, b=90), **NO_WORSE).iloc[0]
    assert one["p"] == pytest.approx(2 * sides[0])


def test_more_failures_are_a_difference_unless_the_other_side_has_them():
    for shares, alike, no_worse in (
        (Shares(0, 5, 5, 5), words.DOES_NOT_HOLD, words.DOES_NOT_HOLD),
        (Shares(5, 5, 0, 5), words.DOES_NOT_HOLD, words.HOLDS),
    ):
        for below, expected in ((False, alike), (True, no_worse)):
            found = family({"a": [[]]}, {"a": []}, Equivalence(1.0, below=below), {"a": [shares]})
            assert found["a"].parts[0].verdict == expected


def test_the_best_in_hindsight_is_chosen_by_the_other_seeds():
    """b is best but for its first seed; without that seed c is behind by far."""
    b, c = np.array([80, 90, 90, 90, 90.0]), np.array([89, 81, 80, 80, 80.0])
    row = judge(exact(a=90, b=b, c=c), **BEST).iloc[0]
    assert row["difference"] == pytest.approx((10 + 0 + 0 + 0 + 0) / 5)
    assert row["about"] == "a against the best of b and c, epsilon 2"
    assert {name.split("-")[0] for name in row["runs"].split()} == {"a", "b"}


@pytest.mark.parametrize("claim", [ALIKE, NO_WORSE], ids=["alike", "no worse"])
def test_a_difference_of_the_margin_keeps_the_level(claim):
    found = repeated(lambda rng: drawn(rng, a=89, b=90), claim)
    assert 0 < found <= bound(0.025)


def test_the_best_of_two_in_hindsight_keeps_what_is_said_of_it():
    """The other one lies so near that it is chosen often."""

    def make(rng):
        means = {"a": 89, "b": 90, "c": 89.7}
        return judged.found(
            {(m, 2.0, ()): judged.normal(rng, at, sd=0.6) for m, at in means.items()}
        )

    assert 0 < repeated(make, BEST) <= bound(0.06)


def test_an_opponent_that_never_ran_leaves_the_best_open():
    assert set(verdicts(judge(exact(a=90), **BEST))) == {words.NOT_RUN}
