"""What every kind of claim keeps to, the claims of all papers, and claims about printed numbers."""

import ast
import math
import re

import judged
import numpy as np
import pandas as pd
import pytest
from claims_of_runs import judge, losses, printed, two, verdict, verdicts
from refusals import refuses
from scipy import integrate, stats

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.judging import claims, orderings
from dpfl.judging import judge as judging
from dpfl.seeds import power
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import DIFFERS, INCONCLUSIVE, MATCHES, NOT_RUN, in_words

LITERALS = ("REQUIRED", "OPTIONAL", "LISTS", "CHOICES", "NEEDS", "ONE_OF")
HEAD = {"id": "some", "where": "table 1", "quote": "words"}


def evidence():
    leads, rng = {"a": 93, "b": 91, "c": 90}, np.random.default_rng(3)
    means = {(m, e, ()): lead + e for m, lead in leads.items() for e in (2.0, 4.0)}
    accuracies = [(m.upper(), m, e, mean) for (m, e, _), mean in means.items() if m != "c"]
    prices = [(2, 1.0, "x", 1.1, words.DIFFERS), (4, 2.0, "", np.nan, words.NOT_RUN)]
    return judged.found(
        {cell: judged.normal(rng, mean) for cell, mean in means.items()},
        printed=pd.concat([printed(accuracies), losses(prices).assign(table="table 2")]),
        curves=lambda method, epsilon, seed: [0.1 * t for t in range(8 + (method == "a"))],
        tables={"": pd.DataFrame({"x": [1]})},
    )


def example(kind):
    study = {"study": "main"} if "study" in literal(kind, "REQUIRED") else {}
    return HEAD | {"kind": kind} | study | plugins.constant("judging/kinds", kind, "EXAMPLE")


def literal(kind, name):
    return plugins.constant("judging/kinds", kind, name) or ()


@pytest.mark.parametrize("kind", claims.kinds())
def test_a_kind_says_in_literals_what_it_takes(kind):
    assert literal(kind, "REQUIRED")
    for name in LITERALS:
        assert isinstance(literal(kind, name), tuple | dict)
    assert plugins.constant("judging/kinds", kind, "EXAMPLE")
    taken = {*literal(kind, "REQUIRED"), *literal(kind, "OPTIONAL"), *literal(kind, "ONE_OF")}
    assert taken >= {*literal(kind, "LISTS"), *literal(kind, "CHOICES"), *literal(kind, "NEEDS")}
    assert not taken & {"id", "where", "quote", "translation", "kind", "status"}


@pytest.mark.parametrize("kind", claims.kinds())
def test_a_kind_fixes_its_verdicts_in_its_docstring(kind):
    own = ast.get_docstring(plugins.tree("judging/kinds", kind))
    told = own + orderings.__doc__ * ("rule of differences" in " ".join(own.split()))
    listed = dict(re.findall(r"^    (\S.*?)  +(.*)$", told, re.MULTILINE))
    known = [word for word in vars(words).values() if isinstance(word, words.Verdict)]
    judged = verdicts(judging.judge(example(kind), evidence()))
    assert spoken([*judged, words.NOT_RUN]) <= {*listed} <= spoken(known)
    if "study" in literal(kind, "REQUIRED"):
        assert listed[in_words(words.TOO_FEW._asdict())].startswith("fewer than 5")


def spoken(found):
    return {in_words(verdict._asdict()) for verdict in found}


@pytest.mark.parametrize("kind", claims.kinds())
def test_a_claim_has_the_columns_of_all_and_the_whole_first(kind):
    claims.check(example(kind))
    table = judging.judge(example(kind), evidence())
    assert list(table) == claims.COLUMNS
    assert table["part"].iloc[0] == "overall"
    assert table["part"].is_unique
    assert set(table["kind"]) == {kind}
    assert set(table["claim"]) == {"some"}
    assert table["verdict"].ne("").all()


@pytest.mark.parametrize("kind", claims.kinds())
def test_every_key_that_is_required_is_missed(kind):
    for key in literal(kind, "REQUIRED"):
        with pytest.raises(UserError, match=f"claim some: .*{key}"):
            claims.check({k: v for k, v in example(kind).items() if k != key})
    refuses("unknown key 'bettr'", lambda: claims.check(example(kind) | {"bettr": "a"}))
    for key in literal(kind, "ONE_OF"):
        with pytest.raises(UserError, match="exactly one of"):
            claims.check(example(kind) | dict.fromkeys(literal(kind, "ONE_OF"), 1))
        if key in example(kind):
            with pytest.raises(UserError, match="exactly one of"):
                claims.check({k: v for k, v in example(kind).items() if k != key})


@pytest.mark.parametrize("kind", [k for k in claims.kinds() if "study" in literal(k, "REQUIRED")])
def test_another_data_set_is_not_run(kind):
    if "cells" not in literal(kind, "OPTIONAL") or kind == "number":
        return  # the cells of a number are those of the printed table
    other = example(kind) | {"cells": {"dataset": "cifar10"}}
    own = example(kind) | {"cells": {"dataset": "mnist"}}
    assert set(verdicts(judging.judge(other, evidence()))) == {words.NOT_RUN}
    pd.testing.assert_frame_equal(
        judging.judge(own, evidence()), judging.judge(example(kind), evidence())
    )


def test_features_count_as_what_they_are_features_of():
    found = evidence()
    found.study["dataset"] = "mnist-scatter"
    claim = example("ordering") | {"cells": {"dataset": "mnist"}}
    assert verdicts(judging.judge(claim, found))[0] == words.HOLDS


@pytest.mark.parametrize("kind", claims.kinds())
def test_a_study_that_demonstrates_judges_nothing(kind):
    found = evidence()
    found.study["demonstrates"] = True
    shown, judged = (verdicts(judging.judge(example(kind), own)) for own in (found, evidence()))
    assert shown[0] == words.DEMONSTRATION
    assert shown == [own if own == words.NOT_RUN else words.DEMONSTRATION for own in judged]


def test_a_choice_may_need_another_key(monkeypatch):
    known, needs = plugins.constant, {"direction": {"falls": ("epsilons",)}}
    monkeypatch.setattr(plugins, "constant", lambda *a: needs if a[2] == "NEEDS" else known(*a))
    claims.check(example("trend"))
    with pytest.raises(UserError, match="direction falls: the key 'epsilons' is missing"):
        claims.check(example("trend") | {"direction": "falls"})


@pytest.mark.parametrize("kind", claims.kinds())
def test_several_names_are_taken_where_a_kind_compares_with_several(kind):
    own = example(kind)
    for key in {*claims.METHODS} & own.keys():
        listed = own | {key: ["b", "c"]}
        if key in literal(kind, "LISTS"):
            claims.check(listed)
            continue
        refuses(rf"{key} is \['b', 'c'\], must be one name", claims.check, listed)


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
    claim = {"kind": "privacy-loss", "analysis": "prices", "table": "table 4", "rows": ["m"]}
    return judging.judge(HEAD | claim, found)


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
