"""Checks of an analysis' settings, light enough to run before the first job."""

import math
from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import as_text, nearest, shortened

MOST = 10**7
"""Of anything that is counted; more would never end."""
LARGEST = 1000.0
"""Epsilon that is priced, as by the calculator."""

Check = Callable[[str, Any], None]
"""Of a value, by the name of the place where it stands."""


def mapping(where: str, value: Any, keys: Collection[str]) -> None:
    """Expect a dict with exactly these keys."""
    if not isinstance(value, dict):
        raise UserError(f"{where} is {value!r}, must be a mapping of {', '.join(keys)}")
    for key in value:
        if key not in keys:
            raise UserError(f"{where} has the unknown key {key!r}; {nearest(key, keys)}")
    for key in keys:
        if key not in value:
            raise UserError(f"{where} lacks the key {key!r}")


def fields(where: str, value: Any, checks: Mapping[str, Check]) -> None:
    """Expect a dict with exactly these keys, each value of which passes a check of its own."""
    mapping(where, value, checks)
    for key, check in checks.items():
        check(f"{where}.{key}", value[key])


def number(where: str, value: Any, high: float = math.inf, closed: bool = False) -> None:
    """Expect a finite number above 0 and below `high`, or at most `high` if that is allowed."""
    numeric = isinstance(value, int | float) and not isinstance(value, bool)
    inside = numeric and 0 < value < math.inf and (value < high or (closed and value == high))
    if not inside:
        bound = f"in (0, {high:g}{']' if closed else ')'}" if high < math.inf else "> 0 and finite"
        raise UserError(f"{where} is {value!r}, must be a number {bound}{as_text(value)}")


def whole(where: str, value: Any) -> None:
    """Expect a whole number from 1 to MOST."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise UserError(f"{where} is {shortened(value)}, must be a whole number >= 1")
    if value > MOST:
        raise UserError(f"{where} is {shortened(value)}, must be a whole number <= {MOST}")


def epsilon(where: str, value: Any) -> None:
    """Expect a budget that can be priced."""
    number(where, value, LARGEST, closed=True)


def numbers(where: str, value: Any, each: Check) -> None:
    """Expect a list of numbers that increase, each of which passes a check of its own."""
    for index, item in enumerate(items(where, value)):
        each(f"{where}.{index}", item)
    if any(a >= b for a, b in pairwise(value)):
        raise UserError(f"{where} is {value!r}, must increase from item to item")


def items(where: str, value: Any) -> list:
    """Expect a list with at least one item; return it."""
    if not isinstance(value, list) or not value:
        raise UserError(f"{where} is {value!r}, must be a list with at least one item")
    return value


share = partial(number, high=1)
"""Expect a number above 0 and below 1."""
rate = partial(number, high=1, closed=True)
"""Expect a number above 0, at most 1."""
counts = partial(numbers, each=whole)
"""Expect a list of whole numbers that increase."""
