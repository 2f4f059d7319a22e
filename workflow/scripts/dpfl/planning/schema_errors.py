"""Words what a schema finds in a file or in a configuration: one line with key, place and bound."""

import math
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import jsonschema

from dpfl.papers import folder
from dpfl.suggestions import as_text, nearest

NAME = "lower-case letters, digits, dots and dashes"
SCHEMAS = Path(__file__).parents[3] / "schemas"


def not_numbers(value: object, where: str = "") -> Iterator[str]:
    """Yield a line for every NaN and infinity, which all bounds of a schema let pass."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from not_numbers(item, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from not_numbers(item, f"{where}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"config: {where} = {value}, expected a finite number (or the word inf for epsilons)"


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(folder.read(SCHEMAS / f"{name}.schema.yaml"))


def broken_schema(name: str, config: dict) -> Iterator[str]:
    """Yield a line for every place where a configuration breaks the schema of that name."""
    for error in _validator(name).iter_errors(config):
        yield from _readable(error)


def _readable(error: jsonschema.ValidationError) -> Iterator[str]:
    """Say what is wrong, where, and what was expected."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    for line in WORDINGS.get(error.validator, _out_of_bound)(error, where):
        yield f"config: {line}"


def _unknown_key(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    known = list(error.schema.get("properties", {}))
    for key in sorted(set(error.instance) - set(known), key=str):
        yield f"unknown key {key!r} at {where}; {nearest(key, known)}"


def _missing_key(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    yield f"{error.message} at {where}"


def _wrong_name(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    yield f"name {error.instance!r} at {where}, expected {NAME}"


def _out_of_bound(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    """Word the bound of any other schema keyword."""
    value = error.validator_value
    listed = " or ".join(map(str, value)) if isinstance(value, list) else value
    bound = BOUNDS.get(error.validator, f"{error.validator} {{}}").format(listed)
    yield f"{where} = {error.instance!r}, expected {bound}{as_text(error.instance)}"


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
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "minItems": "at least {} item",
    "minLength": "at least {} character",
    "uniqueItems": "no item twice",
    "anyOf": "a number > 0 or inf",  # epsilons alone have one
}
