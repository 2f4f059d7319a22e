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
    for node in plugins.tree(package, name).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            taken = node.args
            needed = taken.args[given : len(taken.args) - len(taken.defaults)]
            keywords = zip(taken.kwonlyargs, taken.kw_defaults, strict=True)
            needed += [argument for argument, default in keywords if default is None]
            known = [*taken.args[given:], *taken.kwonlyargs]
            return [a.arg for a in known], [a.arg for a in needed]
    file = plugins.path_of(package, name).name
    raise UserError(f"{package}/{file}: no function {function} at top level")


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
            yield from unknown([variable], known, f"{where}: unknown constant")
            continue
        try:
            value = plugins.constant(package, name, variable)
        except UserError as error:
            yield str(error)
            continue
        kind = known[variable]
        if not fits(value, kind):
            written = kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
            yield f"{where}: {variable} is {value!r}; it must be {written}"
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
        if not isinstance(value, tuple):
            return False
        each = inner[:1] * len(value) if inner[1:] == (...,) else inner
        return len(value) == len(each) and all(map(fits, value, each))
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, kind)


def types(package: str) -> dict[str, Any]:
    """Return the type of every constant that a package's files may declare."""
    declared = plugin_files.FILES[package].__annotations__
    return {
        name: get_args(kind)[0] for name, kind in declared.items() if get_origin(kind) is ClassVar
    }


def _bound_errors(declared: dict[str, str], arguments: list[str]) -> Iterator[str]:
    for setting, bound in declared.items():
        yield from unknown([setting], arguments, "unknown setting")
        try:
            bounds.parse(bound)
        except UserError as error:
            yield f"{setting}: {error}"
