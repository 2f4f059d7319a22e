"""Words what a schema finds in a file or in a configuration: one line with key, place and bound."""

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jsonschema

from dpfl.base.suggestions import as_text, nearest, shortened
from dpfl.papers import folder

LONGEST = 100  # characters of a key: names of files are made of several
SCHEMAS = Path(__file__).parents[3] / "schemas"


def not_numbers(value: object, where: str = "") -> Iterator[str]:
    """Yield a line for what the bounds of a schema let pass, or cannot be told of.

    That is every NaN and infinity, and every key that is no text, or an endless one.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            told = f"config: the key {shortened(key)} at {where or 'top level'}"
            if not isinstance(key, str):
                yield f"{told} is {type(key).__name__}, expected text: write it in quotes"
            elif len(key) > LONGEST:
                yield f"{told} has {len(key)} characters, expected at most {LONGEST}"
            else:
                yield from not_numbers(item, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from not_numbers(item, f"{where}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"config: {where} = {value}, expected a finite number (or the word inf for epsilons)"


def _is_integer(_checker: object, value: object) -> bool:
    """Tell whether a number is written as a whole one: rounds are counted, and 2.0 is no count."""
    return isinstance(value, int) and not isinstance(value, bool)


_Strict = jsonschema.validators.extend(
    jsonschema.Draft202012Validator,
    type_checker=jsonschema.Draft202012Validator.TYPE_CHECKER.redefine("integer", _is_integer),
)


@cache
def _validator(name: str) -> jsonschema.protocols.Validator:
    return _Strict(folder.read(SCHEMAS / f"{name}.schema.yaml"))


def broken_schema(name: str, config: dict) -> Iterator[str]:
    """Yield a line for every place where a configuration breaks the schema of that name.

    What an entry of a section hands on to those that extend it is told once, of the first.
    """
    errors = sorted(_validator(name).iter_errors(config), key=lambda error: _rank(config, error))
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
        yield f"config: {first}" + f" (so at {len(others)} more)" * bool(others)


def _rank(config: dict, error: jsonschema.ValidationError) -> tuple[bool, int]:
    """Put wrong types first, and entries of a section in the order in which they are defined."""
    section, name = (*error.absolute_path, None, None)[:2]
    entries = list(config.get(section, ())) if isinstance(name, str) else []
    return error.validator != "type", entries.index(name) if entries else 0


def _worded(error: jsonschema.ValidationError, path: list) -> Iterator[str]:
    """Say what is wrong at a path, and what was expected."""
    where = ".".join(map(str, path)) or "top level"
    return WORDINGS.get(error.validator, _out_of_bound)(error, where)


def _unknown_key(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    known = list(error.schema.get("properties", {}))
    for key in sorted(set(error.instance) - set(known), key=str):
        yield f"unknown key {shortened(key)} at {where}; {nearest(key, known)}"


def _missing_key(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    yield f"{error.message} at {where}"


def _wrong_name(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    allowed = "digits, dots and dashes" if "." in error.validator_value else "digits and dashes"
    yield f"name {shortened(error.instance)} at {where}, expected lower-case letters, {allowed}"


def _out_of_bound(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    """Word the bound of any other keyword; of `anyOf` and `oneOf` the schema says it itself."""
    value = error.validator_value
    listed = " or ".join(map(str, value)) if isinstance(value, list) else value
    words = BOUNDS.get(error.validator) or error.schema["expected"]
    bound = words.format(listed)
    yield f"{where} = {shortened(error.instance)}, expected {bound}{as_text(error.instance)}"


WORDINGS = {
    "additionalProperties": _unknown_key,
    "required": _missing_key,
    "pattern": _wrong_name,
}
"""How a broken schema keyword is worded, where it sets no bound."""
BOUNDS = {
    "enum": "one of {}",
    "type": "type {}",
    "minimum": "at least {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "minProperties": "at least {} entry",
    "maxProperties": "at most {} entry",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minItems": "at least {} item",
    "minLength": "at least {} character",
    "uniqueItems": "no item twice",
}
