"""What every kind of claim keeps to, and the claims of all papers against it."""

import ast
import re

import judged
import numpy as np
import pandas as pd
import pytest
from claims_of_runs import losses, printed, verdicts
from refusals import refuses

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.judging import claims, orderings
from dpfl.judging import judge as judging
from dpfl.words import vocabulary as words
from dpfl.words.vocabulary import in_words

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


def test_a_key_may_have_few_values():
    with pytest.raises(UserError, match="must be one of rises, falls"):
        claims.check(example("trend") | {"direction": "grows"})
