"""Checks the configuration before any job: every mistake is one line with key, place and bound.

First the user's own file and the papers', then the configuration that each paper is composed to.
The schemas settle keys, types and ranges; the checks here settle what a schema cannot: names that
must exist, plug-in files and their settings (see plugin_settings), components that do not fit
together and settings that no data set could satisfy (see feasibility).
"""

import math
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

from dpfl import claims, declarations
from dpfl.errors import UserError
from dpfl.papers import folder, published
from dpfl.planning import compose
from dpfl.planning.beside import Beside, unmatched
from dpfl.planning.feasibility import impossible, mismatches
from dpfl.planning.methods import COMPONENTS, SHORT, trials_for, values_of, variants
from dpfl.planning.plugin_settings import plugin_errors
from dpfl.suggestions import as_text, nearest

NAME = "lower-case letters, digits, dots and dashes"
SCHEMAS = Path(__file__).parents[3] / "schemas"
DEFAULTS = Path(__file__).parents[4] / "config.yaml"


def composed(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the configuration of every chosen paper; UserError with a line for every mistake."""
    _raise([*_not_numbers(config), *_schema_errors("config", config)])
    if config["papers"] is not None:
        _raise(_unknown_papers(config["papers"]))
    for key in compose.chosen(config):
        _raise(_file_errors(folder.load(key)))
    papers = compose.compose(config)
    for stage in (_shapes, _unknown_names, _claims, plugin_errors, mismatches, _printed):
        _raise(_told(stage, papers))
    _raise(impossible(papers.values()))
    for key in papers:
        _raise(_unmatched(key))
    return papers


def _raise(lines: Iterable[str]) -> None:
    found = list(dict.fromkeys(lines))
    if found:
        raise UserError("\n".join(found))


def _told(stage: Any, papers: dict[str, dict]) -> Iterator[str]:
    """Find the mistakes of every paper; one that several papers share is told once, of none."""
    found: dict[str, list[str]] = {}
    for key, config in papers.items():
        for line in stage(config):
            found.setdefault(line, []).append(key)
    for line, keys in found.items():
        whose = (
            f"config: {keys[0]}: " if len(keys) < len(papers) or len(papers) == 1 else "config: "
        )
        yield line.replace("config: ", whose, 1)


def _unknown_papers(keys: list[str]) -> Iterator[str]:
    for key in keys:
        if key not in folder.names():
            yield f"config: papers: no {key!r} in workflow/papers; {nearest(key, folder.names())}"


def _file_errors(paper: folder.Paper) -> Iterator[str]:
    """Check the files of a paper by their schemas, its scale blocks too."""
    for file, schema, content in (
        (folder.ABOUT, "paper", paper.about),
        (folder.STUDIES, "studies", paper.content),
    ):
        where = folder.shown(folder.path_of(paper.key, file))
        for line in (*_not_numbers(content), *_schema_errors(schema, content)):
            yield line.replace("config: ", f"{where}: ", 1)


def _shapes(config: dict) -> Iterator[str]:
    yield from _schema_errors("composed", config)


def _claims(config: dict) -> Iterator[str]:
    """Find claims that their kind does not take, or that name what the paper does not define."""
    where = folder.shown(folder.path_of(config["paper"], folder.ABOUT))
    seen: set[str] = set()
    made = folder.load(config["paper"]).about["claims"]
    for kind in {claim.get("kind") for claim in made} & set(claims.kinds()):
        yield from declarations.errors("claims", kind, [])
    for claim in made:
        place = f"{where}: claim {claim['id']}"
        try:
            claims.check(claim)
        except UserError as error:
            yield f"{where}: {error}"
            continue
        if claim["id"] in seen:
            yield f"{place}: another claim has this id"
        seen.add(claim["id"])
        for key, kind in (("study", "studies"), ("analysis", "analyses")):
            if key in claim and claim[key] not in config[kind]:
                near = nearest(claim[key], config[kind])
                yield f"{place}: no {claim[key]!r} in {kind}; {near}"
        for name in [] if "of" in claim else claims.methods(claim):
            if name not in config["methods"]:
                yield f"{place}: no {name!r} in methods; {nearest(name, config['methods'])}"


def _printed(config: dict) -> Iterator[str]:
    """Find printed numbers that stand beside no cell, or beside two."""
    for name in config["select"]:
        if name in config["studies"]:
            yield from Beside(config["paper"], name, config).mistakes()


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


@cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(folder.read(SCHEMAS / f"{name}.schema.yaml"))


def _schema_errors(name: str, config: dict) -> Iterator[str]:
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


def _unknown_names(config: dict) -> Iterator[str]:
    """Find names that no definition has."""

    def expect(names: Iterable[str], kind: str, where: str) -> Iterator[str]:
        for name in names:
            if name not in config[kind]:
                near = nearest(name, config[kind])
                yield f"config: no {name!r} in {kind}, named at {where}; {near}"

    for name in sorted(set(config["studies"]) & set(config["analyses"])):
        yield f"config: {name!r} is in studies and in analyses, expected two names"
    for name in config["select"]:
        if name not in config["analyses"]:
            yield from expect([name], "studies", "select")
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
    """Find what a study names and nothing could be, and rates that nothing tunes.

    What a narrower selection does not run may still be named, so that it need not be taken out.
    """
    where = f"studies.{name}"
    for key, value in study.get("baseline", {}).items():
        yield from _unknown_choice(config, study, f"{where}.baseline.{key}", key, value)
    for number, combination in enumerate(study.get("leave_out", [])):
        for key, value in ((k, v) for k, vs in combination.items() for v in values_of(vs)):
            yield from _unknown_choice(
                config, study, f"{where}.leave_out.{number}.{key}", key, value
            )
    for method in study.get("method_seeds", {}):
        if method not in config["methods"]:
            near = nearest(method, config["methods"])
            yield f"config: no {method!r} in methods, named at {where}.method_seeds; {near}"
    for number, reference in enumerate(study.get("published", [])):
        yield from _published_names(config, study, f"{where}.published.{number}", reference)
    if "tuned_by" in study:
        yield from _tuning_names(config, name, study)


def _unknown_choice(config: dict, study: dict, where: str, key: str, value: Any) -> Iterator[str]:
    """Find a choice that names no definition, or what the study does not vary."""
    kind = {**COMPONENTS, "partition": "partitions", "method": "methods"}.get(key)
    if kind and value not in config[kind]:
        yield f"config: {where} = {value}, no name of {kind}; {nearest(value, config[kind])}"
    elif key != "method" and key not in study.get("vary", {}):
        varied = ["method", *study.get("vary", {})]
        yield f"config: {where}: the study does not vary {key}; {nearest(key, varied)}"


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


def _published_names(config: dict, study: dict, where: str, reference: dict) -> Iterator[str]:
    """Find rows that a table lacks, and methods or models that nothing defines."""
    sides = {"methods": config["methods"], "models": study.get("vary", {}).get("model", [])}
    if not sides.keys() & reference.keys():
        yield f"config: {where} has neither methods nor models, expected one of them"
    rows = {row.row for row in published.read(config["paper"]) if row.table == reference["table"]}
    for side, known in sides.items():
        for name, row in reference.get(side, {}).items():
            if name not in known:
                near = nearest(name, known)
                yield f"config: {where}.{side} has {name!r}, expected one of the {side}; {near}"
            elif rows and row not in rows:
                near = nearest(row, sorted(rows))
                yield f"config: {where}.{side}.{name}: no row {row!r} in the table; {near}"
    known = [*COMPONENTS, *SHORT, "model"]
    for key in reference.get("beside", []):
        if key not in known and "." not in key:
            yield f"config: {where}.beside has {key!r}, no setting; {nearest(key, known)}"


def _unmatched(key: str) -> Iterator[str]:
    """Find printed accuracies of a paper that no study at any scale of it stands beside."""
    defaults, paper = folder.read(DEFAULTS), folder.load(key)
    scales = {scale: compose.at_scale(defaults, paper, scale) for scale in paper.scales}
    found = [analysis for made in scales.values() for analysis in made["analyses"].values()]
    priced = {table for analysis in found for table in analysis.get("prices", [])}
    yield from unmatched(key, scales, priced)
