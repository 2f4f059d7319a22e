"""How numbers and lists are written in sentences: in figures, in reports, on pages of papers."""

from collections.abc import Iterable, Mapping
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


def signed(value: float, digits: int = 1) -> str:
    """Return a number with its sign, such as `+0.3`."""
    return f"{value:+.{digits}f}"


def short(value: float, digits: int = 4) -> str:
    """Return so many digits, powers of ten in short form, such as `0.1` or `1e-5`."""
    return f"{value:.{digits}g}".replace("e-0", "e-")


def span(values: Iterable[float], digits: int = 1) -> str:
    """Return the range of some numbers, such as `98.6 to 99.0`, or the one that they round to."""
    values = list(values)
    low, high = fixed(min(values), digits), fixed(max(values), digits)
    return low if low == high else f"{low} to {high}"


def brief(cell: Mapping[str, Any]) -> str:
    """Return a cell's accuracy for a table, `96.3 ± 0.2`, and how many trained if not all."""
    lost = f"({cell_words.seeds(cell)})" if cell_words.failures(cell) else ""
    known = numerals.known(cell["ci_high"])
    half = f" ± {cell['ci_high'] - cell['accuracy_mean']:.1f}" if known else ""
    mean = cell["accuracy_mean"]
    return " ".join(filter(None, (f"{mean:.1f}{half}" * numerals.known(mean), lost)))


def accuracy(cell: Mapping[str, Any]) -> str:
    """Return a cell's accuracy with its n, `96.3 ± 0.2 (n=3)`."""
    return cell_words.mean_and_interval(cell)


def compared(row: Mapping[str, Any]) -> str:
    """Return a paired difference, `+0.29 [+0.02, +0.56], p = 0.039`: interval and p after Holm."""
    ends = f" [{row['ci_low']:+.2f}, {row['ci_high']:+.2f}]" * numerals.known(row["ci_low"])
    p = f", {numerals.p_equation(row['p_holm'])}" if numerals.known(row["p_holm"]) else ""
    return f"{row['difference']:+.2f}{ends}{p}"


def apart(row: Mapping[str, Any], unit: str = "points") -> str:
    """Return a difference with its unit before the interval, `+0.78 points [+0.08, +1.47]`."""
    ends = f" [{row['ci_low']:+.2f}, {row['ci_high']:+.2f}]" * numerals.known(row["ci_low"])
    return f"{row['difference']:+.2f} {unit}{ends}"
