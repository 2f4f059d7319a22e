"""What a kind of claim says of its differences: their column, their unit, where a verdict turns.

A kind that says nothing has differences in points, which turn at half the margin.
"""

from typing import Any

from dpfl import plugins


def drawn(kind: str) -> str | None:
    """Return the column that is drawn, its interval in `_low` and `_high`; None: nothing is."""
    return _said(kind, "drawn", lambda: "difference")()


def unit(kind: str) -> str:
    """Return the unit of differences, empty for bare numbers."""
    return _said(kind, "unit", lambda: "points")()


def band(kind: str, printed: float, margin: float) -> tuple[float, float] | None:
    """Return from where to where the verdict draws its line, beside a printed number if any."""
    return _said(kind, "band", _half)(printed, margin)


def _half(printed: float, margin: float) -> tuple[float, float]:
    return -margin / 2, margin / 2


def _said(kind: str, name: str, usual: Any) -> Any:
    return getattr(plugins.load("judging/kinds", kind), name, usual)
