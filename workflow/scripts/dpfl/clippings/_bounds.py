"""What the settings of a clipping rule must be."""

import math
from collections.abc import Callable
from typing import Any

from dpfl.errors import UserError


def require(name: str, value: Any, holds: Callable[[Any], bool], bound: str) -> float:
    """Return a setting as a number; UserError with name, value and bound unless it holds."""
    try:
        valid = holds(value)
    except TypeError:
        valid = False
    if not valid:
        raise UserError(f"clipping: {name} is {value!r}; it must be {bound}")
    return float(value)


def positive(name: str, value: Any) -> float:
    """Return a setting as a number; UserError unless it is finite and above 0."""
    return require(name, value, lambda x: 0 < x < math.inf, "a finite number above 0")
