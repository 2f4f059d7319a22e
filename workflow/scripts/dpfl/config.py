"""Checks the configuration before any job: every mistake is one line with key, place and bound.

The schema settles keys, types and ranges; the checks here settle what a schema cannot: names that
must exist, plug-in files and their settings, and settings that no data set could satisfy.
"""

import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import jsonschema
import yaml

from dpfl import plugins
from dpfl.errors import UserError
from dpfl.plan import COMPONENTS, epsilon_of
from dpfl.plugin_settings import nearest, plugin_errors

NAME = "lower-case letters, digits, dots and dashes"
SCHEMA = Path(__file__).parents[2] / "schemas" / "config.schema.yaml"


def check(config: dict) -> None:
    """Raise a UserError with one line for every mistake in a configuration."""
    for stage in (_not_numbers, _schema_errors, _unknown_names, plugin_errors, _impossible):
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
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for key in sorted(set(error.instance) - set(known), key=str):
            yield f"config: unknown key {key!r} at {where}{nearest(key, known)}"
    elif error.validator == "required":
        yield f"config: {error.message} at {where}"
    elif error.validator == "pattern":
        yield f"config: name {error.instance!r} at {where}, expected {NAME}"
    elif error.validator == "anyOf":
        yield f"config: {where} = {error.instance!r}, expected a number > 0 or inf"
    else:
        yield f"config: {where} = {error.instance!r}, expected {_bound(error)}{_as_text(error)}"


def _as_text(error: jsonschema.ValidationError) -> str:
    """Explain YAML 1.1, to which 1e-5 is text and 1.0e-5 a number."""
    found = re.fullmatch(r"(\d+)(e[-+]?\d+)", str(error.instance))
    text = error.validator == "type" and isinstance(error.instance, str) and found
    return f" (YAML reads it as text: write {found[1]}.0{found[2]})" if text else ""


def _bound(error: jsonschema.ValidationError) -> str:
    """Word the bound of a schema keyword."""
    words = {
        "enum": "one of {}",
        "type": "type {}",
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "exclusiveMaximum": "less than {}",
        "minItems": "at least {} item",
        "minLength": "at least {} character",
        "uniqueItems": "no item twice",
    }
    value = error.validator_value
    listed = " or ".join(map(str, value)) if isinstance(value, list) else value
    return words.get(error.validator, f"{error.validator} {{}}").format(listed)


def _unknown_names(config: dict) -> Iterator[str]:
    """Find names that no definition has."""

    def expect(names: Iterable[str], kind: str, where: str) -> Iterator[str]:
        for name in names:
            if name not in config[kind]:
                near = nearest(name, config[kind])
                yield f"config: no {name!r} in {kind}, named at {where}{near}"

    yield from expect(config["select"], "studies", "select")
    for name, method in config["methods"].items():
        for part, kind in COMPONENTS.items():
            yield from expect([method[part]], kind, f"methods.{name}.{part}")
    for name, federation in config["federations"].items():
        yield from expect([federation["partition"]], "partitions", f"federations.{name}.partition")
    for name, study in config["studies"].items():
        where = f"studies.{name}"
        yield from expect([study["dataset"]], "models", f"{where}.dataset")
        yield from expect(study["methods"], "methods", f"{where}.methods")
        for key, values in study.get("vary", {}).items():
            kind = {**COMPONENTS, "partition": "partitions"}.get(key)
            yield from expect(values, kind, f"{where}.vary.{key}") if kind else ()
        yield from _study_names(config, name, study)


def _study_names(config: dict, name: str, study: dict) -> Iterator[str]:
    """Find claims about methods that a study does not run, and rates that nothing tunes."""
    where = f"studies.{name}"
    judged = [m for c in study.get("claims", []) for m in (c["better"], *c["worse"])]
    for method in [*judged, *study.get("controls", [])]:
        if method not in study["methods"]:
            yield (
                f"config: {where}.claims or .controls name {method!r}, "
                f"expected one of its methods{nearest(method, study['methods'])}"
            )
    if "tuned_by" not in study:
        return
    grid = config["studies"].get(study["tuned_by"])
    if grid is None or "rate" not in grid.get("vary", {}):
        grids = [n for n, s in config["studies"].items() if "rate" in s.get("vary", {})]
        found = f"{study['tuned_by']!r}, expected a study that varies rate"
        yield f"config: {where}.tuned_by = {found}{nearest(study['tuned_by'], grids)}"
        return
    if name not in config["select"]:
        return
    if not grid.get("validation_fraction"):
        yield f"config: studies.{study['tuned_by']}.validation_fraction, expected more than 0"
    for method in sorted(set(study["methods"]) - set(grid["methods"])):
        grid_name = study["tuned_by"]
        yield f"config: {where}.methods has {method!r}, which studies.{grid_name} does not tune"


def _impossible(config: dict) -> Iterator[str]:
    """Find federations that the data set of a selected study, or of its grid, cannot fill."""
    uses: dict[str, list[tuple[int, bool, list[str]]]] = {}
    tuning = [config["studies"][name].get("tuned_by") for name in config["select"]]
    for name in dict.fromkeys([*config["select"], *filter(None, tuning)]):
        study = config["studies"][name]
        total = plugins.load("data", study["dataset"]).TRAIN_EXAMPLES
        held_out = math.floor(total * study.get("validation_fraction", 0.0) + 1e-9)
        private = any(epsilon_of(e) != "inf" for e in study["epsilons"])
        vary = study.get("vary", {})
        named = {config["methods"][m]["federation"] for m in study["methods"]}
        for federation in sorted(named.union(vary.get("federation", []))):
            use = (total - held_out, private, vary.get("partition", []))
            uses.setdefault(federation, []).append(use)
    for federation, found in uses.items():
        partitions = {p for _, _, varied in found for p in varied}
        yield from _size_errors(config, federation, min(found)[0], partitions)
        yield from _delta_errors(config, federation, [n for n, private, _ in found if private])


def _size_errors(config: dict, name: str, examples: int, varied: set[str]) -> Iterator[str]:
    """Compare a federation with the smallest number of examples it must divide."""
    federation, where = config["federations"][name], f"config: federations.{name}"
    clients, batch, least = (federation[k] for k in ("clients", "batch_size", "min_examples"))
    if examples // clients < least:
        yield (
            f"{where}.clients = {clients}, expected at most {examples // least}: {examples} "
            f"examples, at least {least} for each client (min_examples)"
        )
    elif batch > examples // clients:
        size = examples // clients
        yield f"{where}.batch_size = {batch}, expected at most the {size} examples of a client"
    if (federation["clients_per_round"] or 0) > clients:
        per_round = federation["clients_per_round"]
        yield f"{where}.clients_per_round = {per_round}, expected at most {clients}"
    if (federation["local_epochs"] is None) == (federation["local_steps"] is None):
        yield f"{where}: expected one of local_epochs and local_steps, the other null"
    for partition in sorted(varied | {federation["partition"]}):
        shards = config["partitions"][partition].get("labels_per_client", 0) * clients
        if shards > examples:
            yield (
                f"{where} with partitions.{partition}: {shards} shards "
                f"(labels_per_client x clients), expected at most {examples} examples"
            )


def _delta_errors(config: dict, name: str, examples: list[int]) -> Iterator[str]:
    """Compare delta with the largest private client."""
    size, delta = (
        max(examples, default=0) // config["federations"][name]["clients"],
        config["delta"],
    )
    if size and delta >= 1 / size:
        yield f"config: delta = {delta}, expected less than 1/{size}, 1/(examples of a client)"
