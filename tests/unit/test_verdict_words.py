"""Sentences about verdicts: comparisons told in full, and the rules in force."""

import numpy as np
from told_tables import compared_of, main

from dpfl.report import verdict_words


def test_a_comparison_with_an_unproven_side_is_no_comparison_at_equal_privacy() -> None:
    [text] = verdict_words.changes(main(), compared_of({"better_certified": False}))
    assert text.endswith("Not certified, so not at equal privacy: adam.")


def test_a_demonstration_judges_nothing() -> None:
    compared = compared_of({"verdict": "demonstration"})
    assert verdict_words.changes(main("digits", demonstrates=True), compared) == []
    text = verdict_words.demonstration(main("digits"))
    assert (
        "A demonstration on handwritten digits" in text and "no published claim is judged" in text
    )


def test_a_comparison_carries_interval_n_and_p() -> None:
    [text] = verdict_words.changes(main(), compared_of({}))
    assert text == (
        "adam against sgd, at each of ε = 2 and 8, of which the one that says least has: +0.40 "
        "points [+0.10, +0.70] (n = 5, p = 0.03 after Holm): gains, for the whole interval lies "
        "above zero."
    )
    [text] = verdict_words.changes(main(), compared_of({"part": "pooled", "failed": 1}))
    assert text.startswith("adam against sgd, pooled over ε = 2 and 8, which decides nothing: +0.")
    assert text.endswith(" 1 run failed: compared are the pairs in which both trained.")
    [text] = verdict_words.changes(main(), compared_of({"epsilons": "2"}))
    assert text.startswith("adam against sgd, at ε = 2: +0.40 points")
    [text] = verdict_words.changes(main(), compared_of({"p_holm": 1e-9}))
    assert "(n = 5, p < 0.0001 after Holm)" in text


def test_a_comparison_of_one_seed_or_none() -> None:
    nothing = {"ci_low": np.nan, "ci_high": np.nan, "p": np.nan, "p_holm": np.nan}
    few = nothing | {"n": 1, "verdict": "too few seeds"}
    one, none = verdict_words.changes(
        main(), compared_of(few, few | {"difference": np.nan, "n": 0})
    )
    assert "(n = 1)" in one and "[" not in one and "Holm" not in one
    assert none == "adam against sgd: no seed has both; too few seeds."


def test_the_rules_name_the_margin_in_force() -> None:
    text = " ".join(verdict_words.rules(2.0))
    assert "The margin is 2 points" in text and "below n = 5" in text
    assert (
        "no difference if the whole interval lies within half the margin, 1 point, of zero" in text
    )


def test_the_rules_of_a_kind_are_told_by_its_own_file() -> None:
    told = verdict_words.of_kinds(["ordering", "number"])
    assert list(told) == ["ordering", "number"]
    assert "the lower end is above half the margin" in told["ordering"]
    assert "the interval lies wholly outside the band" in told["number"]
