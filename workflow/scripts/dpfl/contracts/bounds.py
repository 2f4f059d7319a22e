"""What a plug-in declares of its settings, such as SETTINGS = {"rank": "whole >= 1"}.

A bound is text, so that a configuration is checked without importing the plug-in:

    switch                          true or false
    one of gram, funk               one of these words
    name                            any text but an empty one
    whole >= 1, whole in [1, 8]     a whole number
    number > 0, number in [0, 1)    a finite number; also >=, and every kind of interval
    null or B, list of B, rising list of B, pair of B with another bound B; a list is never empty

A setting that is not declared is checked by nobody. The same text serves the configuration check
and `build`, by the decorator `bounded`.
"""

import functools
import inspect
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from operator import ge, gt, le, lt
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import as_text, shortened

LEAST = 1e-30  # of a number that is not 0: with less, sums and noise lose their digits

_NUMBER = r"([-+]?[\d.]+(?:e[-+]?\d+)?)"
_RANGE = re.compile(rf"(?: (>=?) {_NUMBER}| in ([\[(]){_NUMBER}, {_NUMBER}([\])]))?")
_COMPARE = {">": gt, ">=": ge, "(": gt, "[": ge, ")": lt, "]": le}


@dataclass(frozen=True)
class Bound:
    """A bound in words, as a test, and all values within it if they are few."""

    words: str
    holds: Callable[[Any], bool]
    choices: tuple[Any, ...] = ()


def check(where: str, declared: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Raise UserError with name, value and bound for the first setting outside what is declared."""
    for name in [name for name in declared if name in settings]:
        expect(f"{where}: {name}", settings[name], declared[name], "; it must be")


def expect(what: str, value: Any, text: str, words: str = ", must be") -> None:
    """Raise UserError for a value that is outside of a bound."""
    bound = parse(text)
    if not bound.holds(value):
        tiny = isinstance(value, float) and 0 < abs(value) < LEAST
        why = f", and not nearer to 0 than {LEAST:g}" if tiny else as_text(value)
        raise UserError(f"{what} is {shortened(value)}{words} {bound.words}{why}")


def bounded(declared: Mapping[str, str]) -> Callable[[Callable], Callable]:
    """Check the arguments of a plug-in's function, defaults included, before it is called."""

    def decorate(function: Callable) -> Callable:
        signature = inspect.signature(function)

        @functools.wraps(function)
        def checked(*args: Any, **keywords: Any) -> Any:
            given = signature.bind(*args, **keywords)
            given.apply_defaults()
            check(plug_in(function), declared, given.arguments)
            return function(*args, **keywords)

        return checked

    return decorate


def plug_in(defined: Callable) -> str:
    """Return the name of the plug-in in whose file a function or class is defined."""
    return defined.__module__.rpartition(".")[2].replace("_", "-")


@functools.cache
def parse(text: str) -> Bound:
    """Read a bound; UserError for one that cannot be read."""
    for beginning, form in _FORMS.items():
        if text.startswith(beginning) and (found := form(text.removeprefix(beginning))):
            return found
    forms = ", ".join(repr(form.strip()) for form in _FORMS)
    raise UserError(f"cannot read the bound {text!r}; expected {forms}")


def _switch(rest: str) -> Bound | None:
    return None if rest else Bound("true or false", lambda x: isinstance(x, bool), (False, True))


def _name(rest: str) -> Bound | None:
    return None if rest else Bound("a name", lambda x: isinstance(x, str) and x != "")


def _one_of(rest: str) -> Bound:
    names = tuple(name.strip() for name in rest.split(","))
    return Bound(" or ".join(names), lambda x: isinstance(x, str) and x in names, names)


def _null_or(rest: str) -> Bound:
    bound = parse(rest)
    return Bound(f"null or {bound.words}", lambda x: x is None or bound.holds(x))


def _several(words: str, least: int, most: float, rises: bool, rest: str) -> Bound:
    """A list or tuple of so many values, each larger than the one before it if the list rises."""
    bound = parse(rest)

    def holds(x: Any) -> bool:
        several = isinstance(x, list | tuple) and least <= len(x) <= most
        return several and all(map(bound.holds, x)) and not (rises and list(x) != sorted({*x}))

    return Bound(f"{words}, each {bound.words}", holds)


def _numeric(words: str, kind: type, rest: str) -> Bound | None:
    """A number of a kind, within a range; NaN and infinity are within none."""
    found = _RANGE.fullmatch(rest)
    if not found:
        return None
    half, least, opening, low, high, closing = found.groups()
    ends = [(half, least), (opening, low), (closing, high)]
    limits = [(_COMPARE[sign], float(end)) for sign, end in ends if sign]

    def holds(x: Any) -> bool:
        numeric = isinstance(x, kind) and not isinstance(x, bool) and math.isfinite(x)
        resolved = numeric and (x == 0 or abs(x) >= LEAST)
        return resolved and all(compare(x, end) for compare, end in limits)

    return Bound(f"a {'' if opening or kind is Integral else 'finite '}{words}{rest}", holds)


_FORMS: dict[str, Callable[[str], Bound | None]] = {
    "switch": _switch,
    "one of ": _one_of,
    "name": _name,
    "whole": partial(_numeric, "whole number", Integral),
    "number": partial(_numeric, "number", Real),
    "null or ": _null_or,
    "list of ": partial(_several, "a list of one or more", 1, math.inf, False),
    "rising list of ": partial(_several, "a list of one or more that rise", 1, math.inf, True),
    "pair of ": partial(_several, "two values", 2, 2, False),
}
