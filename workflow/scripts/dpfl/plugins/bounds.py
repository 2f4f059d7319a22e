"""What a plug-in declares of its settings, such as SETTINGS = {"rank": "whole >= 1"}.

A bound is text, so that a configuration is checked without importing the plug-in:

    switch                          true or false
    one of gram, funk               one of these words
    whole >= 1, whole in [1, 8]     a whole number
    number > 0, number in [0, 1)    a finite number; also >=, and every kind of interval
    null or B, list of B, pair of B with another bound B; a list has at least one item

A setting that is not declared is checked by nobody. The same text serves the configuration check
and `build`, by the decorator `bounded`.
"""

import functools
import inspect
import math
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from dpfl.base.errors import UserError
from dpfl.base.suggestions import as_text

Test = Callable[[Any], bool]

_NUMBER = r"[-+]?[\d.]+(?:e[-+]?\d+)?"
_HALF_OPEN = re.compile(rf"(>=?) ({_NUMBER})")
_INTERVAL = re.compile(rf"in ([\[(])({_NUMBER}), ({_NUMBER})([\])])")
_OPERATORS = {
    **{">": operator.gt, ">=": operator.ge, "(": operator.gt, "[": operator.ge},
    **{")": operator.lt, "]": operator.le},
}


@dataclass(frozen=True)
class Bound:
    """A bound in words, as a test, and all values within it if they are few."""

    words: str
    holds: Test
    choices: tuple[Any, ...] = ()


def check(where: str, declared: Mapping[str, str], settings: Mapping[str, Any]) -> None:
    """Raise UserError with name, value and bound for the first setting outside what is declared."""
    for name in [name for name in declared if name in settings]:
        bound, value = parse(declared[name]), settings[name]
        if not bound.holds(value):
            told = f"{name} is {value!r}; it must be {bound.words}"
            raise UserError(f"{where}: {told}{as_text(value)}")


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
        if text.startswith(beginning):
            return form(text.removeprefix(beginning))
    raise _unreadable(text)


def _unreadable(text: str) -> UserError:
    forms = ", ".join(repr(form.strip()) for form in _FORMS)
    return UserError(
        f"cannot read the bound {text!r}; expected {forms} (see dpfl/plugins/bounds.py)"
    )


def _switch(rest: str) -> Bound:
    if rest:
        raise _unreadable(f"switch{rest}")
    return Bound("true or false", lambda x: isinstance(x, bool), (False, True))


def _one_of(rest: str) -> Bound:
    names = tuple(name.strip() for name in rest.split(","))
    return Bound(" or ".join(names), lambda x: isinstance(x, str) and x in names, names)


def _null_or(rest: str) -> Bound:
    bound = parse(rest)
    return Bound(f"null or {bound.words}", lambda x: x is None or bound.holds(x))


def _list_of(rest: str) -> Bound:
    bound = parse(rest)

    def holds(x: Any) -> bool:
        return isinstance(x, list | tuple) and len(x) > 0 and all(map(bound.holds, x))

    return Bound(f"a list of one or more, each {bound.words}", holds)


def _pair_of(rest: str) -> Bound:
    bound = parse(rest)

    def holds(x: Any) -> bool:
        return isinstance(x, list | tuple) and len(x) == 2 and all(map(bound.holds, x))

    return Bound(f"two values, each {bound.words}", holds)


def _whole(rest: str) -> Bound:
    return _numeric("whole", "a whole number", Integral, rest)


def _number(rest: str) -> Bound:
    words = "a number" if rest.startswith(" in ") else "a finite number"
    return _numeric("number", words, Real, rest)


def _numeric(form: str, words: str, kind: type, rest: str) -> Bound:
    """A number of a kind, within a range; NaN and infinity are within none."""
    within = _range(form, rest.strip())

    def holds(x: Any) -> bool:
        return isinstance(x, kind) and not isinstance(x, bool) and math.isfinite(x) and within(x)

    return Bound(f"{words}{rest}", holds)


def _range(form: str, text: str) -> Test:
    if not text:
        return lambda x: True
    if found := _HALF_OPEN.fullmatch(text):
        compare, least = _OPERATORS[found[1]], float(found[2])
        return lambda x: compare(x, least)
    if found := _INTERVAL.fullmatch(text):
        above, below = _OPERATORS[found[1]], _OPERATORS[found[4]]
        low, high = float(found[2]), float(found[3])
        return lambda x: above(x, low) and below(x, high)
    raise _unreadable(f"{form} {text}")


_FORMS: dict[str, Callable[[str], Bound]] = {
    "switch": _switch,
    "one of ": _one_of,
    "whole": _whole,
    "number": _number,
    "null or ": _null_or,
    "list of ": _list_of,
    "pair of ": _pair_of,
}
