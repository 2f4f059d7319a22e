"""Numbers as readers see them: bounds rounded to the safe side, p-values, what is not known."""

import math
from collections.abc import Callable, Container, Mapping
from numbers import Real
from typing import Any

from dpfl.words.vocabulary import NOT_RUN

ENDS = (("difference_low", "difference_high"), ("ci_low", "ci_high"), ("low", "high"))
"""What the ends of a difference are called: of claims, of comparisons, in figures."""


def known(value: object) -> bool:
    """Return whether a table holds something here."""
    return not (value is None or value == "" or (isinstance(value, float) and math.isnan(value)))


def number(value: float, form: str = "{:.3g}") -> str:
    """Format a number; infinity as its sign."""
    return "∞" if math.isinf(value) else form.format(value)


def text(value: object, form: str = "{:g}") -> str:
    """Return a value of a table as a text: a number in this form, nothing for what is not known."""
    if not known(value):
        return ""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    return number(float(value), form) if is_number else str(value)


def counted(count: float, noun: str) -> str:
    """Return a count with its noun, such as `1 run` or `2.5 epochs`."""
    return f"{count:g} {noun}{'' if count == 1 else 's'}"


def p_text(p: float) -> str:
    """Return a p-value to two digits, the smallest ones as a bound."""
    return "<0.0001" if p < 1e-4 else f"{p:.2g}"


def p_equation(p: float) -> str:
    """Return a p-value in running text, such as `p = 0.03` or `p < 0.0001`."""
    text = p_text(p)
    return f"p < {text[1:]}" if text.startswith("<") else f"p = {text}"


def ends(low: Any, high: Any, form: str = "+z.2f") -> str:
    """Return an interval as it stands behind its middle, ` [+0.10, +0.74]`, nothing without one.

    No end is shown as `-0.00`.
    """
    return f" [{low:{form}}, {high:{form}}]" if known(low) else ""


def difference(
    row: Mapping[str, Any], unit: str = "points", beside: Container[str] = frozenset()
) -> str:
    """Return a difference in words, `+0.42 [+0.10, +0.74] points (n=5, p = 0.03)`.

    `beside` says which of n and p (after Holm) stand there. Where nothing could be paired it says
    so, and it is empty where nothing was asked.
    """
    if not known(row["difference"]):
        asked = known(row.get("n")) and not row["n"] and row.get("needs") != NOT_RUN.needs
        return "no seed has both" * bool(asked)
    own = next(([row[name] for name in names] for names in ENDS if names[0] in row), (None, None))
    p = row.get("p_holm")
    told = [f"n={row['n']:g}"] if "n" in beside else []
    told += [p_equation(p)] if "p" in beside and known(p) else []
    after = f"({', '.join(told)})" if told else ""
    return " ".join(filter(None, (f"{row['difference']:+z.2f}{ends(*own)}", unit, after)))


def rounded_up(epsilon: float) -> str:
    """Return four digits of a proven bound, rounded up: rounded to nearest it might not hold."""
    return _digits(epsilon, 4, lambda value: math.ceil(value - 1e-9))


def rounded_down(epsilon: float) -> str:
    """Return three digits of an audited bound, rounded down: rounded up it might not hold."""
    return _digits(epsilon, 3, lambda value: math.floor(value + 1e-9))


def _digits(epsilon: float, digits: int, cut: Callable[[float], int]) -> str:
    if not math.isfinite(epsilon) or epsilon == 0:
        return number(epsilon)
    unit = 10.0 ** (math.floor(math.log10(epsilon)) - digits + 1)
    return f"{cut(epsilon / unit) * unit:.{digits}g}"
