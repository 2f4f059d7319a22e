"""Checks the configuration before any job: every mistake is one line with key, place and bound.

The schema settles keys, types and ranges; the checks here settle what a schema cannot: names that
must exist, plug-in files and their settings (see plugin_settings), components that do not fit
together and settings that no data set could satisfy (see feasibility).
"""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path

import jsonschema
import yaml

from dpfl.errors import UserError
from dpfl.hints import as_text, nearest
from dpfl.planning.feasibility import impossible, mismatches
from dpfl.planning.methods import COMPONENTS, trials_for, values_of, variants
from dpfl.planning.plugin_settings import plugin_errors
from dpfl.tables import published

NAME = "lower-case letters, digits, dots and dashes"
NOTEBOOKS = Path(__file__).parents[4] / "notebooks"
SCHEMA = Path(__file__).parents[3] / "schemas" / "config.schema.yaml"


def check(config: dict) -> None:
    """Raise a UserError with one line for every mistake in a configuration."""
    stages = (_not_numbers, _schema_errors, _unknown_names, plugin_errors, mismatches, impossible)
    for stage in stages:
        lines = list(dict.fromkeys(stage(config)))
        if lines:
            raise UserError("\n".join(lines))


def _not_numbers(value: object, where: str = "") -> Iterator[str]:
    """Find NaN and infinity, which every bound of a schema lets pass."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _not_numbers(item, f"{where}.{key}".lstrip("."))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _not_numbers(item, f"{where}.{index}")
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"config: {where} = {value}, expected a finite number (or the word inf for epsilons)"


def _schema_errors(config: dict) -> Iterator[str]:
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    for error in jsonschema.Draft202012Validator(schema).iter_errors(config):
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


def _unknown_names(config: dict) -> Iterator[str]:
    """Find names that no definition has."""

    def expect(names: Iterable[str], kind: str, where: str) -> Iterator[str]:
        for name in names:
            if name not in config[kind]:
                near = nearest(name, config[kind])
                yield f"config: no {name!r} in {kind}, named at {where}; {near}"

    selected = [name for name in config["select"] if name not in config["accounting"]]
    yield from expect(selected, "studies", "select")
    for name, analysis in config["accounting"].items():
        yield from _notebook_errors(f"accounting.{name}", analysis["notebook"])
    for name in sorted(set(config["studies"]) & set(config["accounting"])):
        yield f"config: {name!r} is in studies and in accounting, expected two names"
    for name, method in config["methods"].items():
        for part, kind in COMPONENTS.items():
            yield from expect([method[part]], kind, f"methods.{name}.{part}")
    for name, federation in config["federations"].items():
        yield from expect([federation["partition"]], "partitions", f"federations.{name}.partition")
    for name, study in config["studies"].items():
        where = f"studies.{name}"
        yield from _notebook_errors(where, study["notebook"])
        yield from expect([study["dataset"]], "models", f"{where}.dataset")
        yield from expect(study["methods"], "methods", f"{where}.methods")
        for key, values in study.get("vary", {}).items():
            kind = {**COMPONENTS, "partition": "partitions"}.get(key)
            yield from expect(values, kind, f"{where}.vary.{key}") if kind else ()
        yield from _study_names(config, name, study)


def _notebook_errors(where: str, name: str) -> Iterator[str]:
    """Find a notebook that does not exist."""
    known = sorted(path.stem for path in NOTEBOOKS.glob("*.ipynb"))
    if name not in known:
        yield f"config: no {name!r} in notebooks, named at {where}.notebook; {nearest(name, known)}"


def _study_names(config: dict, name: str, study: dict) -> Iterator[str]:
    """Find what a study names and does not run, and rates that nothing tunes."""
    where = f"studies.{name}"
    for key, value in study.get("baseline", {}).items():
        if value not in _choices(study, key):
            listed = ", ".join(map(str, _choices(study, key))) or "nothing"
            yield (
                f"config: {where}.baseline.{key} = {value}, expected one of {_place(key)}: {listed}"
            )
    for number, combination in enumerate(study.get("leave_out", [])):
        for key, value in ((k, v) for k, vs in combination.items() for v in values_of(vs)):
            if value not in _choices(study, key):
                place = f"{where}.leave_out.{number}.{key}"
                yield f"config: {place} = {value}, expected one of {_place(key)}"
    judged = [m for c in study.get("claims", []) for m in (c["better"], *c["worse"])]
    for method in [*judged, *study.get("controls", []), *study.get("method_seeds", {})]:
        if method not in study["methods"]:
            yield (
                f"config: {where}.claims, .controls or .method_seeds name {method!r}, "
                f"expected one of its methods; {nearest(method, study['methods'])}"
            )
    yield from _published_names(where, study)
    if "tuned_by" in study:
        yield from _tuning_names(config, name, study)


def _tuning_names(config: dict, name: str, study: dict) -> Iterator[str]:
    """Find methods and variants of a study that its grid of rates does not tune."""
    where = f"studies.{name}"
    grid = config["studies"].get(study["tuned_by"])
    if grid is None or "rate" not in grid.get("vary", {}):
        grids = [n for n, s in config["studies"].items() if "rate" in s.get("vary", {})]
        found = f"{study['tuned_by']!r}, expected a study that varies rate"
        yield f"config: {where}.tuned_by = {found}; {nearest(study['tuned_by'], grids)}"
        return
    if name not in config["select"]:
        return
    if not grid.get("validation_fraction"):
        yield f"config: studies.{study['tuned_by']}.validation_fraction, expected more than 0"
    for method in sorted(set(study["methods"]) - set(grid["methods"])):
        grid_name = study["tuned_by"]
        yield f"config: {where}.methods has {method!r}, which studies.{grid_name} does not tune"
    pairs = [(m, v) for m in study["methods"] if m in grid["methods"] for v in variants(study, m)]
    for method, variant in pairs:
        if "rate" not in variant and not trials_for(grid, method, variant):
            words = ", ".join(f"{key}={value}" for key, value in variant.items()) or "nothing"
            yield f"config: {where} varies {words}, which studies.{study['tuned_by']} does not tune"


def _choices(study: dict, key: str) -> list:
    """Return the values of what a study varies, or its methods."""
    return study["methods"] if key == "method" else study.get("vary", {}).get(key, [])


def _place(key: str) -> str:
    return "methods" if key == "method" else f"vary.{key}"


def _published_names(where: str, study: dict) -> Iterator[str]:
    """Find unknown tables, rows that they lack, and methods or models that a study lacks."""
    for number, reference in enumerate(study.get("published", [])):
        place = f"{where}.published.{number}"
        if reference["table"] not in published.tables():
            known = "; ".join(sorted(published.tables()))
            yield f"config: {place}.table = {reference['table']}, expected one of {known}"
        sides = {"methods": study["methods"], "models": _choices(study, "model")}
        if not sides.keys() & reference.keys():
            yield f"config: {place} has neither methods nor models, expected one of them"
        for side, known in sides.items():
            for name, row in reference.get(side, {}).items():
                if name not in known:
                    near = nearest(name, known)
                    yield f"config: {place}.{side} has {name!r}, expected one of its {side}; {near}"
                elif row not in published.rows(reference["table"]):
                    near = nearest(row, sorted(published.rows(reference["table"])))
                    yield f"config: {place}.{side}.{name}: no row {row!r} in the table; {near}"
