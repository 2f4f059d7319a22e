"""Finds names in a composed configuration that nothing defines, with the nearest that exists."""

from collections.abc import Iterable, Iterator
from typing import Any

from dpfl.base.suggestions import nearest
from dpfl.checks.tuning_errors import tuning_errors
from dpfl.papers import published
from dpfl.planning.methods import COMPONENTS, SHORT, values_of
from dpfl.plugins import analyses


def unknown_names(config: dict) -> Iterator[str]:
    """Yield a line for every name of a composed configuration that no definition has."""

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
        for part, chosen in method.items():
            yield from expect([chosen], COMPONENTS[part], f"methods.{name}.{part}")
    for name, federation in config["federations"].items():
        yield from expect([federation["partition"]], "partitions", f"federations.{name}.partition")
    for name, analysis in config["analyses"].items():
        yield from expect(analyses.inputs_of(analysis), "models", f"analyses.{name}.dataset")
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
    if "focus" in study and study["focus"] not in config["methods"]:
        near = nearest(study["focus"], config["methods"])
        yield f"config: no {study['focus']!r} in methods, named at {where}.focus; {near}"
    yield from tuning_errors(config, name, study)


def _unknown_choice(config: dict, study: dict, where: str, key: str, value: Any) -> Iterator[str]:
    """Find a choice that names no definition, or what the study does not vary."""
    kind = {**COMPONENTS, "partition": "partitions", "method": "methods"}.get(key)
    if kind and not (isinstance(value, str) and value in config[kind]):
        yield f"config: {where} = {value}, no name of {kind}; {nearest(value, config[kind])}"
    elif key != "method" and key not in study.get("vary", {}):
        varied = ["method", *study.get("vary", {})]
        yield f"config: {where}: the study does not vary {key}; {nearest(key, varied)}"


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
