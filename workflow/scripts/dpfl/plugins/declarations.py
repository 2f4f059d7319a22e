"""Whether a plug-in file declares what its Protocol lists, and nothing else: see plugin_files.

Files are read, not imported: that would cost two CPU seconds.
"""

import ast
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, ClassVar, Literal, get_args, get_origin

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest, unknown
from dpfl.contracts import plugin_files
from dpfl.plugins import bounds

FUNCTIONS = {
    "clients/partitions": ("assign", 3),
    "mechanisms": ("build", 1),
    "clippings": ("build", 0),
    "privacy/budgets": ("schedule", 2),
    "optimizers": ("build", 1),
    "statistics": ("build", 0),
}
"""The function of a package's files that takes settings, after as many other arguments."""


def arguments(package: str, name: str) -> tuple[list[str], list[str]]:
    """Return the settings that a plug-in's function takes: all of them, and those it needs.

    UserError if a plug-in has no such function.
    """
    function, given = FUNCTIONS[package]
    functions = [n for n in plugins.tree(package, name).body if isinstance(n, ast.FunctionDef)]
    found = next((n for n in functions if n.name == function), None)
    if found is None:
        file = plugins.path_of(package, name).name
        raise UserError(f"{package}/{file}: no function {function} at top level")
    plain, keyword = found.args.args, found.args.kwonlyargs
    required = plain[: len(plain) - len(found.args.defaults)][given:]
    required += [a for a, d in zip(keyword, found.args.kw_defaults, strict=True) if d is None]
    return [a.arg for a in [*plain[given:], *keyword]], [a.arg for a in required]


def wrong_settings(package: str, name: str, given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield settings that a plug-in does not take, each with the nearest that it does.

    Then come those that it lacks, each with "".
    """
    given, (known, required) = set(given), arguments(package, name)
    yield from ((setting, nearest(setting, known)) for setting in sorted(given - {*known}, key=str))
    yield from ((setting, "") for setting in required if setting not in given)


def errors(package: str, name: str, arguments: list[str]) -> Iterator[str]:
    """Find constants that are unknown, no literals or of another type, and unreadable bounds.

    `arguments` are the settings that the plug-in's function takes.
    """
    where = f"{package}/{plugins.path_of(package, name).name}"
    known = types(package)
    for variable in plugins.public_constants(package, name):
        if variable not in known:
            yield f"{where}: unknown constant {variable!r}; {nearest(variable, known)}"
            continue
        try:
            value = plugins.constant(package, name, variable)
        except UserError as error:
            yield str(error)
            continue
        if not fits(value, known[variable]):
            yield f"{where}: {variable} is {value!r}; it must be {_told(known[variable])}"
        elif variable == "SETTINGS":
            yield from (f"{where}: SETTINGS: {found}" for found in _bound_errors(value, arguments))


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a literal is of a type: bool, int, float, str, tuple, dict, Literal, unions."""
    if kind is Any:
        return True
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Literal:
        return value in inner
    if origin is UnionType:
        return any(fits(value, one) for one in inner)
    if origin is dict:
        return isinstance(value, dict) and all(
            fits(key, inner[0]) and fits(item, inner[1]) for key, item in value.items()
        )
    if origin is tuple:
        each = inner[:1] * len(value) if inner[1:] == (...,) else inner
        return _is_tuple(value, each) and all(map(fits, value, each))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


def _is_tuple(value: Any, each: tuple) -> bool:
    return isinstance(value, tuple) and len(value) == len(each)


def types(package: str) -> dict[str, Any]:
    """Return the type of every constant that a package's files may declare."""
    declared = plugin_files.FILES[package].__annotations__
    return {
        name: get_args(kind)[0] for name, kind in declared.items() if get_origin(kind) is ClassVar
    }


def _told(kind: Any) -> str:
    """Return a type as a reader writes it."""
    return kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")


def _bound_errors(declared: dict[str, str], arguments: list[str]) -> Iterator[str]:
    for setting, bound in declared.items():
        yield from unknown([setting], arguments, "unknown setting")
        try:
            bounds.parse(bound)
        except UserError as error:
            yield f"{setting}: {error}"
