"""How numbers and lists are written in sentences: in figures, in reports, on pages of papers."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from dpfl.words import cell_words, numerals


def listed(items: Iterable[Any]) -> str:
    """Join words as in `a, b and c`."""
    *rest, last = [str(item) for item in items] or ["none"]
    return f"{', '.join(rest)} and {last}" if rest else last


def points(value: float) -> str:
    """Return a number of percentage points."""
    return f"{value:g} point{'' if value == 1 else 's'}"


def setting(epsilon: float) -> str:
    """Return a privacy setting in words."""
    return "without privacy" if np.isinf(epsilon) else f"ε = {epsilon:g}"


def fixed(value: float, digits: int = 1) -> str:
    """Return a number with so many decimals, such as `96.3`."""
    return f"{value:.{digits}f}"


def short(value: float, digits: int = 4) -> str:
    """Return so many digits, powers of ten in short form, such as `0.1` or `1e-5`."""
    return f"{value:.{digits}g}".replace("e-0", "e-")


def span(values: Iterable[float], digits: int = 1) -> str:
    """Return the range of some numbers, such as `98.6 to 99.0`, or the one that they round to."""
    values = list(values)
    low, high = fixed(min(values), digits), fixed(max(values), digits)
    return low if low == high else f"{low} to {high}"


_ROUNDED = (numerals.rounded_down, numerals.rounded_up, cell_words.brief)
FILTERS = {form.__name__: form for form in (listed, fixed, short, span, *_ROUNDED)}
FILTERS |= {"apart": numerals.difference}
"""What the page of a paper writes after a bar: `{{ value | fixed(2) }}`."""
