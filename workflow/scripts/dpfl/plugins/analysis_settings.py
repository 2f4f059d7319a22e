"""Checks of an analysis' settings, light enough to run before the first job."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from itertools import pairwise
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.plugins import bounds

Check = Callable[[str, Any], None]
"""Of a value, by the name of the place where it stands."""


def mapping(where: str, value: Any, keys: Collection[str]) -> None:
    """Expect a dict with exactly these keys."""
    if not isinstance(value, dict):
        raise UserError(f"{where} is {value!r}, must be a mapping of {', '.join(keys)}")
    for line in unknown(value, keys, f"{where} has the unknown key"):
        raise UserError(line)
    for key in keys:
        if key not in value:
            raise UserError(f"{where} lacks the key {key!r}")


def fields(where: str, value: Any, checks: Mapping[str, Check]) -> None:
    """Expect a dict with exactly these keys, each value of which passes a check of its own."""
    mapping(where, value, checks)
    for key, check in checks.items():
        check(f"{where}.{key}", value[key])


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


number = partial(bounds.expect, text="number > 0")
"""Expect a finite number above 0."""
share = partial(bounds.expect, text="number in (0, 1)")
"""Expect a number above 0 and below 1."""
rate = partial(bounds.expect, text="number in (0, 1]")
"""Expect a number above 0, at most 1."""
epsilon = partial(bounds.expect, text="number in (0, 1000]")
"""Expect a budget that can be priced, as by the calculator."""
whole = partial(bounds.expect, text="whole in [1, 10000000]")
"""Expect a count; more than ten million would never end."""
counts = partial(numbers, each=whole)
"""Expect a list of counts that increase."""
