"""Finds names in a composed configuration that nothing defines, with the nearest that exists."""

from collections.abc import Iterable, Iterator

from dpfl.base.suggestions import nearest, unknown
from dpfl.planning.methods import COMPONENTS, SECTIONS, values_of
from dpfl.plugins import analyses


def unknown_names(config: dict) -> Iterator[str]:
    """Yield a line for every name of a composed configuration that no definition has."""
    for name in sorted(set(config["studies"]) & set(config["analyses"])):
        yield f"config: {name!r} is in studies and in analyses, expected two names"
    for names, kind, where in _named(config):
        yield from unknown(names, config[kind], "config: no", f" in {kind}, named at {where}")
    for name, study in config["studies"].items():
        yield from _wrong_choices(config, f"config: studies.{name}", study)


def _named(config: dict) -> Iterator[tuple[Iterable[str], str, str]]:
    """Yield names with the section that must define them, and where they stand."""
    yield [name for name in config["select"] if name not in config["analyses"]], "studies", "select"
    for name, method in config["methods"].items():
        for part, chosen in method.items():
            yield [chosen], COMPONENTS[part], f"methods.{name}.{part}"
    for name, federation in config["federations"].items():
        yield [federation["partition"]], "partitions", f"federations.{name}.partition"
    for name, analysis in config["analyses"].items():
        yield analyses.inputs_of(analysis), "models", f"analyses.{name}.dataset"
    for name, study in config["studies"].items():
        where = f"studies.{name}"
        yield [study["dataset"]], "models", f"{where}.dataset"
        for key in ("methods", "method_seeds", "method_tuned_at"):
            yield study.get(key, []), "methods", f"{where}.{key}"
        yield [study["focus"]] if "focus" in study else [], "methods", f"{where}.focus"
        for key, values in study.get("vary", {}).items():
            yield from [(values, SECTIONS[key], f"{where}.vary.{key}")] if key in SECTIONS else ()


def _wrong_choices(config: dict, where: str, study: dict) -> Iterator[str]:
    """Find choices that name no definition, or what the study does not vary.

    What a narrower selection does not run may still be named, so that it need not be taken out.
    """
    sections, varied = {**SECTIONS, "method": "methods"}, ["method", *study.get("vary", {})]
    chosen = [("baseline", *item) for item in study.get("baseline", {}).items()]
    for number, combination in enumerate(study.get("leave_out", [])):
        items = ((key, value) for key, own in combination.items() for value in values_of(own))
        chosen += [(f"leave_out.{number}", *item) for item in items]
    for place, key, value in chosen:
        there = f"{where}.{place}"
        yield from unknown([key], varied, f"{there} has", ", which the study does not vary")
        if kind := sections.get(key):
            yield from unknown([value], config[kind], f"{there}.{key}: no", f" in {kind}")
        elif place == "baseline" and value not in study.get("vary", {}).get(key, [value]):
            near = nearest(value, map(str, study["vary"][key]))
            yield f"{there}.{key} = {value}, no value that the study varies; {near}"
