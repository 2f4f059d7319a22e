"""Whether a plug-in file declares what its Protocol lists, and nothing else: see plugin_files."""

from collections.abc import Iterator
from types import UnionType
from typing import Any, ClassVar, Literal, get_args, get_origin

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.base.suggestions import nearest
from dpfl.contracts import plugin_files
from dpfl.plugins import bounds


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
        if setting not in arguments:
            yield f"unknown setting {setting!r}; {nearest(setting, arguments)}"
        try:
            bounds.parse(bound)
        except UserError as error:
            yield f"{setting}: {error}"
