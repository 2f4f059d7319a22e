"""Whether a plug-in file declares what its Protocol lists, and nothing else: see plugin_files.

Files are read, not imported: that would cost two CPU seconds.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, get_args, get_origin

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest, unknown
from dpfl.contracts import bounds, plugin_files

PUBLIC = re.compile("[A-Z][A-Z0-9_]*")
"""The names of constants that a plug-in declares to others."""
FUNCTIONS = {
    "clients/partitions": ("assign", 3),
    "mechanisms": ("build", 1),
    "clippings": ("build", 0),
    "privacy/budgets": ("schedule", 2),
    "optimizers": ("build", 1),
    "statistics": ("build", 0),
    "federations": ("build", 1),
}
"""The function of a package's files that takes settings, after as many other arguments."""


def arguments(package: str, name: str) -> tuple[list[str], list[str]]:
    """Return the settings that a plug-in's function takes: all of them, and those it needs.

    UserError if a plug-in has no such function.
    """
    function, given = FUNCTIONS[package]
    for node in plugins.tree(package, name).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            own = [one.arg for one in (*node.args.args, *node.args.kwonlyargs)]
            bare = len(node.args.args) - len(node.args.defaults)
            usual = [*[None] * bare, *node.args.defaults, *node.args.kw_defaults]
            needed = [name for name, value in zip(own, usual, strict=True) if value is None]
            return own[given:], [name for name in needed if name in own[given:]]
    raise UserError(f"{plugins.shown(package, name)}: no function {function} at top level")


def wrong_settings(package: str, name: str, given: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield settings that a plug-in does not take, each with the nearest that it does.

    Then come those that it lacks, each with "".
    """
    given, (known, required) = set(given), arguments(package, name)
    yield from ((setting, nearest(setting, known)) for setting in sorted(given - {*known}, key=str))
    yield from ((setting, "") for setting in required if setting not in given)


def errors(package: str, name: str) -> Iterator[str]:
    """Find constants that are unknown, no literals or of another type, and unreadable bounds."""
    where, known = plugins.shown(package, name), types(package)
    taken = arguments(package, name)[0] if package in FUNCTIONS else []
    own = [*filter(PUBLIC.fullmatch, plugins.assigned(package, name))]
    yield from unknown(own, known, f"{where}: unknown constant")
    for variable, kind in known.items():
        try:
            value = plugins.constant(package, name, variable)
        except UserError as error:
            yield str(error)
            continue
        if variable in own and not fits(value, kind):
            written = kind.__name__ if isinstance(kind, type) else str(kind).replace("typing.", "")
            yield f"{where}: {variable} is {value!r}; it must be {written}"
        elif variable == "SETTINGS":
            yield from (f"{where}: SETTINGS: {found}" for found in _bound_errors(value, taken))


def fits(value: Any, kind: Any) -> bool:
    """Tell whether a literal is of a type, without any conversion but of a whole number."""
    from pydantic import ConfigDict, TypeAdapter, ValidationError  # trainings do without

    try:
        TypeAdapter(kind, config=ConfigDict(strict=True)).validate_python(value)
    except ValidationError:
        return False
    return True


def types(package: str) -> dict[str, Any]:
    """Return the type of every constant that a package's files may declare."""
    declared = plugin_files.FILES[package].__annotations__.items()
    return {name: get_args(kind)[0] for name, kind in declared if get_origin(kind) is ClassVar}


def _bound_errors(declared: dict[str, str], arguments: list[str]) -> Iterator[str]:
    yield from unknown(declared, arguments, "unknown setting")
    for setting, bound in declared.items():
        try:
            bounds.parse(bound)
        except UserError as error:
            yield f"{setting}: {error}"
