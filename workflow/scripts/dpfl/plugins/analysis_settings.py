"""Checks of an analysis' settings, light enough to run before the first job."""

from collections.abc import Callable, Mapping
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import unknown
from dpfl.contracts import bounds

Check = str | Callable[[str, Any], None] | None
"""A bound of `contracts.bounds`, or what checks a value by the name of its place; None lets any
value pass."""
SHARE, EPSILON = "number in (0, 1)", "number in (0, 1000]"
COUNT = "whole in [1, 10000000]"
"""More than ten million would never end."""
COUNTS = f"rising list of {COUNT}"


def fields(where: str, value: Any, checks: Mapping[str, Check]) -> None:
    """Expect a dict with exactly these keys, each value of which passes a check of its own."""
    if not isinstance(value, dict):
        raise UserError(f"{where} is {value!r}, must be a mapping of {', '.join(checks)}")
    lacking = (f"{where} lacks the key {key!r}" for key in checks if key not in value)
    for line in (*unknown(value, checks, f"{where} has the unknown key"), *lacking):
        raise UserError(line)
    for key, check in checks.items():
        passes(f"{where}.{key}", value[key], check)


def passes(where: str, value: Any, check: Check) -> None:
    """Expect that a value passes a check."""
    if callable(check):
        check(where, value)
    elif check:
        bounds.expect(where, value, check)


def items(where: str, value: Any) -> list:
    """Expect a list with at least one item; return it."""
    if not isinstance(value, list) or not value:
        raise UserError(f"{where} is {value!r}, must be a list with at least one item")
    return value
