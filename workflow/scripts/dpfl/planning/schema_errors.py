"""Words what a schema finds in a file or in a configuration: one line with key, place and bound."""

import math
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import jsonschema

from dpfl.papers import folder
from dpfl.suggestions import as_text, nearest, shortened

NAME = "lower-case letters, digits, dots and dashes"
LONGEST = 100  # characters of a key: names of files are made of several
SCHEMAS = Path(__file__).parents[3] / "schemas"


def not_numbers(value: object, where: str = "") -> Iterator[str]:
    """Yield a line for what the bounds of a schema let pass, or cannot be told of.

    That is every NaN and infinity, and every key that is no text, or an endless one.
    """
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                told = f"{key!r} at {where or 'top level'} is {type(key).__name__}"
                yield f"config: the key {told}, expected text: write it in quotes"
                continue
            if len(key) > LONGEST:
                told = f"{shortened(key)} at {where or 'top level'} has {len(key)} characters"
                yield f"config: the key {told}, expected at most {LONGEST}"
                continue
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
    """Yield a line for every place where a configuration breaks the schema of that name."""
    errors = sorted(
        _validator(name).iter_errors(config), key=lambda error: error.validator != "type"
    )
    mistyped = []
    for error in errors:
        path = list(error.absolute_path)
        if path not in mistyped:  # no bound holds for what is of another type
            yield from _readable(error)
        if error.validator == "type":
            mistyped.append(path)


def each_once(config: dict, lines: Iterable[str]) -> Iterator[str]:
    """Tell what an entry hands on to those that extend it once, of the first that is defined."""
    entries = [
        f"{section}.{name}"
        for section, content in config.items()
        if isinstance(content, dict)
        for name in content
    ]
    alike: dict[str, list[str]] = {}
    for line in lines:
        found = max(
            (e for e in entries if re.search(rf"{re.escape(e)}(?![\w-])", line)),
            key=len,
            default="",
        )
        alike.setdefault(line.replace(found, found.split(".")[0], 1) if found else line, []).append(
            (found, line)
        )
    for same in alike.values():
        first = min(same, key=lambda pair: entries.index(pair[0]) if pair[0] else 0)[1]
        others = f" (so at {len(same) - 1} more)" if len(same) > 1 else ""
        yield first + others


def _readable(error: jsonschema.ValidationError) -> Iterator[str]:
    """Say what is wrong, where, and what was expected."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    for line in WORDINGS.get(error.validator, _out_of_bound)(error, where):
        yield f"config: {line}"


def _unknown_key(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    known = list(error.schema.get("properties", {}))
    for key in sorted(set(error.instance) - set(known), key=str):
        yield f"unknown key {shortened(key)} at {where}; {nearest(key, known)}"


def _missing_key(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    yield f"{error.message} at {where}"


def _wrong_name(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    yield f"name {shortened(error.instance)} at {where}, expected {NAME}"


def _out_of_bound(error: jsonschema.ValidationError, where: str) -> Iterator[str]:
    """Word the bound of any other schema keyword."""
    value = error.validator_value
    listed = " or ".join(map(str, value)) if isinstance(value, list) else value
    bound = BOUNDS.get(error.validator, f"{error.validator} {{}}").format(listed)
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
    "oneOf": "a name, or family-names",  # authors alone have one
    "anyOf": "a number in [1e-06, 1000] or inf",  # epsilons alone have one
}
