"""Words what a schema finds in a file or in a configuration: one line with key, place and bound."""

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jsonschema

from dpfl.base.suggestions import as_text, nearest, shortened
from dpfl.papers import folder
from dpfl.words.bounds import EXPECTED

SCHEMAS = Path(__file__).parents[3] / "schemas"


_Strict = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    # To which 2.0 is no whole number: rounds are counted.
    type_checker=jsonschema.Draft4Validator.TYPE_CHECKER,
)


@cache
def _validator(name: str) -> jsonschema.protocols.Validator:
    return _Strict(folder.read(SCHEMAS / f"{name}.schema.yaml"))


def broken_schema(name: str, content: dict, file: str = "config") -> Iterator[str]:
    """Yield a line for every place where a file breaks the schema of that name.

    What an entry of a section hands on to those that extend it is told once, of the first.
    """
    found = list(_beyond_schemas(content)) or _broken(_validator(name), content)
    yield from (f"{file}: {line}" for line in found)


def _beyond_schemas(value: object, where: str = "") -> Iterator[str]:
    """Find what the bounds of a schema let pass, or cannot be told of.

    That is every NaN and infinity, and every key that is no text.
    """
    items = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        told = f"the key {shortened(key)} at {where or 'top level'}"
        if not isinstance(key, str) and isinstance(value, dict):
            yield f"{told} is {type(key).__name__}, expected text: write it in quotes"
        else:
            yield from _beyond_schemas(item, f"{where}.{key}".lstrip("."))
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{where} = {value}, expected a finite number (or the word inf for epsilons)"


def _broken(validator: jsonschema.protocols.Validator, config: dict) -> Iterator[str]:
    """Yield a line for every broken keyword, without the file."""
    errors = sorted(validator.iter_errors(config), key=lambda error: _rank(config, error))
    mistyped: list[list] = []
    alike: dict[str, list[str]] = {}
    for error in errors:
        path = list(error.absolute_path)
        if path in mistyped:  # no bound holds for what is of another type
            continue
        mistyped += [path] * (error.validator == "type")
        shared = path if [int] == list(map(type, path[1:2])) else path[:1] + path[2:]
        for line, kind in zip(_worded(error, path), _worded(error, shared), strict=True):
            alike.setdefault(kind, []).append(line)
    for first, *others in alike.values():
        yield first + f" (so at {len(others)} more)" * bool(others)


def _rank(config: dict, error: jsonschema.ValidationError) -> tuple[bool, int]:
    """Put wrong types first, and entries of a section in the order in which they are defined."""
    section, name = (*error.absolute_path, None, None)[:2]
    entries = list(config.get(section, ())) if isinstance(name, str) else []
    return error.validator != "type", entries.index(name) if entries else 0


def _worded(error: jsonschema.ValidationError, path: list) -> Iterator[str]:
    """Say what is wrong at a path, and what was expected.

    Of `anyOf`, `oneOf` and `pattern` the schema says it itself, under `expected`.
    """
    where = ".".join(map(str, path)) or "top level"
    found, bound = error.instance, error.validator_value
    match error.validator:
        case "additionalProperties":
            known = list(error.schema.get("properties", {}))
            for key in sorted(set(found) - set(known), key=str):
                yield f"unknown key {shortened(key)} at {where}; {nearest(key, known)}"
        case "required" | "dependentRequired":
            yield f"{error.message} at {where}"
        case keyword:
            listed = " or ".join(map(str, bound)) if isinstance(bound, list) else bound
            expected = (EXPECTED.get(keyword) or error.schema["expected"]).format(listed)
            is_key, told = "propertyNames" in error.absolute_schema_path, shortened(found)
            place = f"name {told} at {where}" if is_key else f"{where} = {told}"
            yield f"{place}, expected {expected}{as_text(found)}"
