"""Mistakes of users: each is a UserError of one line that names the value and its bound."""

import re
from collections.abc import Callable

import pytest

from dpfl.base.errors import UserError


def line_of(function: Callable, *given: object, **named: object) -> str:
    """Return the one line of the UserError that a call raises."""
    with pytest.raises(UserError) as caught:
        function(*given, **named)
    line = str(caught.value)
    assert "\n" not in line
    return line


def refused(*cases: tuple[Callable, str]) -> Callable:
    """Return a test that each call is refused; its line has the pattern that stands beside it."""

    @pytest.mark.parametrize(("call", "told"), cases)
    def test(call: Callable, told: str) -> None:
        refuses(told, call)

    return test


def refuses(told: str, function: Callable, *given: object, **named: object) -> None:
    """Check that a call is refused in one line with some words, a regular expression."""
    assert re.search(told, line_of(function, *given, **named))
