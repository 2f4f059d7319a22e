"""Checks the configuration before any job: every mistake is one line with key, place and bound.

The schema settles keys, types and ranges; the checks here settle what a schema cannot: names that
must exist, plug-in files and their settings, and settings that no data set could satisfy.
"""

import ast
import difflib
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import jsonschema
import yaml

from dpfl import plugins
from dpfl.errors import UserError
from dpfl.plan import COMPONENTS, epsilon_of

# section: package, key that names the file, its function, how many arguments the workflow gives
TAKERS = {
    "partitions": ("partitions", "scheme", "assign", 3),
    "mechanisms": ("mechanisms", "estimator", "build", 1),
    "budgets": ("privacy/budgets", "strategy", "schedule", 5),
    "optimizers": ("optimizers", "algorithm", "build", 1),
}
SCHEMA = Path(__file__).parents[2] / "schemas" / "config.schema.yaml"


def check(config: dict) -> None:
    """Raise a UserError with one line for every mistake in a configuration."""
    for stage in (_schema_errors, _unknown_names, _plugin_errors, _impossible):
        lines = list(dict.fromkeys(stage(config)))
        if lines:
            raise UserError("\n".join(lines))


def _schema_errors(config: dict) -> Iterator[str]:
    schema = yaml.safe_load(SCHEMA.read_text(encoding="utf-8"))
    for error in jsonschema.Draft202012Validator(schema).iter_errors(config):
        yield from _readable(error)


def _readable(error: jsonschema.ValidationError) -> Iterator[str]:
    """Say what is wrong, where, and what was expected."""
    where = ".".join(str(part) for part in error.absolute_path) or "top level"
    if error.validator == "additionalProperties":
        known = list(error.schema.get("properties", {}))
        for key in sorted(set(error.instance) - set(known)):
            yield f"config: unknown key {key!r} at {where}{_nearest(key, known)}"
    elif error.validator == "required":
        yield f"config: {error.message} at {where}"
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


def _nearest(name: str, known: Iterable[str]) -> str:
    known = list(known)
    near = difflib.get_close_matches(str(name), known, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else f"; there are: {', '.join(known) or 'none'}"


def _unknown_names(config: dict) -> Iterator[str]:
    """Find names that no definition has."""

    def expect(names: Iterable[str], kind: str, where: str) -> Iterator[str]:
        for name in names:
            if name not in config[kind]:
                near = _nearest(name, config[kind])
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
                f"expected one of its methods{_nearest(method, study['methods'])}"
            )
    if "tuned_by" not in study:
        return
    grid = config["studies"].get(study["tuned_by"])
    if grid is None or "rate" not in grid.get("vary", {}):
        grids = [n for n, s in config["studies"].items() if "rate" in s.get("vary", {})]
        found = f"{study['tuned_by']!r}, expected a study that varies rate"
        yield f"config: {where}.tuned_by = {found}{_nearest(study['tuned_by'], grids)}"
        return
    if not grid.get("validation_fraction"):
        yield f"config: studies.{study['tuned_by']}.validation_fraction, expected more than 0"
    for method in sorted(set(study["methods"]) - set(grid["methods"])):
        grid_name = study["tuned_by"]
        yield f"config: {where}.methods has {method!r}, which studies.{grid_name} does not tune"


def _plugin_errors(config: dict) -> Iterator[str]:
    """Find plug-in files that do not exist, and settings that their `build` does not take."""
    wanted = [
        *(("data", d, f"models.{d}") for d in config["models"]),
        *(("models", m, f"models.{d}") for d, m in config["models"].items()),
        *(("partitions", p["scheme"], f"partitions.{n}") for n, p in config["partitions"].items()),
        *(
            ("mechanisms", m["estimator"], f"mechanisms.{n}")
            for n, m in config["mechanisms"].items()
        ),
        *(("privacy/budgets", b["strategy"], f"budgets.{n}") for n, b in config["budgets"].items()),
        *(
            ("optimizers", o["algorithm"], f"optimizers.{n}")
            for n, o in config["optimizers"].items()
        ),
        *(("plots", f, f"studies.{n}") for n, s in config["studies"].items() for f in s["figures"]),
    ]
    for package, name, where in wanted:
        try:
            plugins.path_of(package, name)
        except UserError as error:
            yield f"config: {where}: {error}"
            return
    for section in TAKERS:
        for name, entry in config[section].items():
            yield from _setting_errors(section, name, entry)


def _setting_errors(section: str, name: str, entry: dict) -> Iterator[str]:
    """Compare the settings of an entry with the arguments of its plug-in's function."""
    package, key, function, given = TAKERS[section]
    nested = {*entry["settings"], entry["rate_key"]} if "settings" in entry else None
    found = set(entry) - {key} if nested is None else nested
    known, required = _arguments(package, entry[key], function, given)
    for setting in sorted(found - set(known)):
        yield f"config: unknown setting {setting!r} at {section}.{name}{_nearest(setting, known)}"
    for setting in sorted(set(required) - found):
        yield f"config: {section}.{name} lacks {setting!r}, which {entry[key]} needs"


def _arguments(package: str, name: str, function: str, given: int) -> tuple[list[str], list[str]]:
    """Read a function's argument names, all and required, but for the first `given`.

    They are read from the source: importing it would cost two CPU seconds.
    """
    tree = ast.parse(plugins.path_of(package, name).read_text(encoding="utf-8"))
    found = next(n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == function)
    plain, keyword = found.args.args, found.args.kwonlyargs
    required = plain[: len(plain) - len(found.args.defaults)][given:]
    required += [a for a, d in zip(keyword, found.args.kw_defaults, strict=True) if d is None]
    return [a.arg for a in [*plain[given:], *keyword]], [a.arg for a in required]


def _impossible(config: dict) -> Iterator[str]:
    """Find federations that the data set of a selected study cannot fill."""
    for name in config["select"]:
        study = config["studies"][name]
        held_out = study.get("validation_fraction", 0.0)
        total = plugins.load("data", study["dataset"]).TRAIN_EXAMPLES
        examples = total - math.floor(total * held_out + 1e-9)
        private = any(epsilon_of(e) != "inf" for e in study["epsilons"])
        used = {config["methods"][m]["federation"] for m in study["methods"]}
        for federation in sorted(used.union(study.get("vary", {}).get("federation", []))):
            partitions = study.get("vary", {}).get("partition")
            yield from _federation_errors(config, federation, partitions, examples, private)


def _federation_errors(
    config: dict, name: str, partitions: list[str] | None, examples: int, private: bool
) -> Iterator[str]:
    federation, where = config["federations"][name], f"config: federations.{name}"
    clients, batch = federation["clients"], federation["batch_size"]
    size = examples // clients
    if size < federation["min_examples"]:
        bound = examples // federation["min_examples"]
        yield (
            f"{where}.clients = {clients}, expected at most {bound}: {examples} examples, "
            f"at least {federation['min_examples']} for each client (min_examples)"
        )
    if batch > size > 0:
        yield f"{where}.batch_size = {batch}, expected at most the {size} examples of a client"
    if private and size and config["delta"] >= 1 / size:
        delta = config["delta"]
        yield f"config: delta = {delta}, expected less than 1/{size}, 1/(examples of a client)"
    if (federation["clients_per_round"] or 0) > clients:
        per_round = federation["clients_per_round"]
        yield f"{where}.clients_per_round = {per_round}, expected at most {clients}"
    if (federation["local_epochs"] is None) == (federation["local_steps"] is None):
        yield f"{where}: expected one of local_epochs and local_steps, the other null"
    for partition in partitions or [federation["partition"]]:
        shards = config["partitions"][partition].get("labels_per_client", 0) * clients
        if shards > examples:
            yield (
                f"{where} with partitions.{partition}: {shards} shards "
                f"(labels_per_client x clients), expected at most {examples} examples"
            )
