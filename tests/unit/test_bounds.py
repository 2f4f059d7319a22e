"""Bounds as text: what each form holds, its words, and the check of a function's arguments."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfl.base.errors import UserError
from dpfl.contracts.bounds import bounded, check, parse

ODD = [None, True, "1", "a", [], [1], math.nan, math.inf, -math.inf, 1j]
numbers = st.one_of(st.integers(-3, 3), st.floats(-3, 3), st.sampled_from(ODD))


def real(x):
    resolved = x == 0 or 1e-30 <= abs(x) < math.inf if isinstance(x, int | float) else False
    return resolved and not isinstance(x, bool)


@given(numbers)
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("number", real),
        ("number > 0", lambda x: real(x) and x > 0),
        ("number >= -1.5", lambda x: real(x) and x >= -1.5),
        ("number in [0, 1)", lambda x: real(x) and 0 <= x < 1),
        ("number in (1e-3, 1]", lambda x: real(x) and 1e-3 < x <= 1),
        ("whole >= 1", lambda x: type(x) is int and x >= 1),
        ("whole in [0, 2]", lambda x: type(x) is int and 0 <= x <= 2),
        ("switch", lambda x: type(x) is bool),
        ("one of a, b-c", lambda x: x == "a"),
        ("null or number > 0", lambda x: x is None or (real(x) and x > 0)),
        ("name", lambda x: type(x) is str and x != ""),
        ("list of whole >= 1", lambda x: x == [1]),
        ("rising list of whole >= 1", lambda x: x == [1]),
        ("pair of number > 0", lambda x: False),
    ],
)
def test_a_bound_holds_what_it_says(text, expected, x):
    assert parse(text).holds(x) == expected(x)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("pair of number in [0, 1)", (0.9, 0.999)),
        ("pair of number in [0, 1)", [0, 0.5]),
        ("list of number > 0", (1.0, 2)),
        ("number > 0", np.float32(0.5)),
        ("whole >= 1", np.int64(2)),
    ],
)
def test_values_of_other_types_that_are_as_good(text, value):
    assert parse(text).holds(value)


@pytest.mark.parametrize("value", [[2, 1], [1, 1], [1, 2, 2], [1, math.nan], []])
def test_a_rising_list_rises_from_value_to_value(value):
    assert parse("rising list of number").holds([-1, 1, 2.5])
    assert not parse("rising list of number").holds(value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("number > 0", "a finite number > 0"),
        ("number in [0, 1)", "a number in [0, 1)"),
        ("one of gram, funk", "gram or funk"),
        ("null or whole >= 2", "null or a whole number >= 2"),
        ("pair of number > 0", "two values, each a finite number > 0"),
        ("rising list of whole", "a list of one or more that rise, each a whole number"),
    ],
)
def test_a_bound_in_words(text, words):
    assert parse(text).words == words


@pytest.mark.parametrize(
    "text", ["", "whol >= 1", "number => 1", "number in [0, 1", "switches", "list of", "whole 1"]
)
def test_a_bound_that_cannot_be_read_is_quoted(text):
    with pytest.raises(UserError, match="cannot read the bound") as error:
        parse(text)
    assert "\n" not in str(error.value)


def test_a_mistake_is_one_line_with_name_value_and_bound():
    declared = {"rank": "whole >= 1", "other": "switch"}
    check("here", declared, {"rank": 1, "unknown": 0})
    with pytest.raises(UserError, match=r"^here: rank is 0; it must be a whole number >= 1$"):
        check("here", declared, {"rank": 0})
    with pytest.raises(UserError, match=r"rank is '1e3'; .* text: write 1.0e3\)"):
        check("here", declared, {"rank": "1e3"})


def test_arguments_are_checked_however_they_are_given_and_defaults_too():
    @bounded({"b": "number > 0", "c": "switch"})
    def build(a, b=0, *, c=False):
        return a, b, c

    assert build(1, 2) == (1, 2, False)
    for call in (lambda: build(1), lambda: build(1, -1), lambda: build(1, b=math.nan)):
        with pytest.raises(UserError, match=r"^test-bounds: b is"):
            call()
    with pytest.raises(UserError, match="c is 1; it must be true or false"):
        build(1, 2, c=1)
