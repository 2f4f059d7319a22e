"""Finds what a study could not be tuned by: a grid, or what is said of how to use it."""

from collections.abc import Iterator

from dpfl import plugins, tuning
from dpfl.base.suggestions import nearest, unknown
from dpfl.planning import stages
from dpfl.planning.methods import SHORT, variants
from dpfl.plugins import bounds

TUNABLE = ("optimizer.", "clipping.")
"""Settings that change neither noise nor clients, which are made before anything is tuned."""


def tuning_errors(config: dict, name: str, study: dict) -> Iterator[str]:
    """Yield a line for every mistake in how a study is tuned, or tunes others."""
    where = f"config: studies.{name}"
    if "tuning" in study:
        yield from _rule_errors(where, study)
    for key in ("tuned_at", "method_tuned_at", "tuned_once"):
        if key in study and "tuned_by" not in study:
            yield f"{where} has {key} and no tuned_by, which names the study that tunes it"
    once, vary = study.get("tuned_once", []), study.get("vary", {})
    yield from unknown(once, vary, f"{where}.tuned_once has", ", which the study does not vary")
    if "tuned_by" in study:
        yield from _grid_errors(config, name, study)


def _rule_errors(where: str, grid: dict) -> Iterator[str]:
    """Check that a rule can tune what it is asked to."""
    vary, over = grid.get("vary", {}), _over(grid)
    yield from unknown(over, vary, f"{where}.tuning.over has", ", which it does not vary")
    for key in (key for key in over if key in vary):
        if not SHORT.get(key, key).startswith(TUNABLE):
            expected = "expected a setting of the optimizer or the clipping rule"
            yield f"{where}.tuning.over has {key!r}, {expected}: others change noise or clients"
        elif not bounds.parse("list of number > 0").holds(vary[key]):
            yield f"{where}.vary.{key} = {vary[key]}, expected numbers more than 0: it is tuned"


def _grid_errors(config: dict, name: str, study: dict) -> Iterator[str]:
    """Find methods and variants of a study that its grid does not tune, or not as the others."""
    by = study["tuned_by"]
    where, grid = f"config: studies.{name}", config["studies"].get(by)
    if grid is None or not _is_grid(grid):
        grids = [n for n, s in config["studies"].items() if _is_grid(s)]
        found = f"{by!r}, expected a study that varies {' and '.join(_over(grid))}"
        yield f"{where}.tuned_by = {found}; {nearest(by, grids)}"
        return
    if name not in config["select"]:
        return
    if grid["dataset"] != study["dataset"]:
        expected = f"expected {study['dataset']!r}, that of studies.{name}"
        yield f"config: studies.{by}.dataset = {grid['dataset']!r}, {expected}"
    if not grid.get("validation_fraction"):
        yield f"config: studies.{by}.validation_fraction, expected more than 0"
    for method in sorted(set(study["methods"]) - set(grid["methods"])):
        yield f"{where}.methods has {method!r}, which studies.{by} does not tune"
    yield from _effort_errors(where, by, study, grid)


def _effort_errors(where: str, by: str, study: dict, grid: dict) -> Iterator[str]:
    """Compare how many values of a grid the cells of a study start from: as many for each."""
    if stages.rule_of(grid)["uses"] not in plugins.names("tuning"):
        return  # told with the other plug-ins that do not exist
    over, first = _over(grid), None
    for method in (m for m in study["methods"] if m in grid["methods"]):
        for variant in variants(study, method):
            if variant.keys() & set(over):
                continue
            cell = _words({"method": method} | stages.own_variant(study, variant))
            found = stages.listed(grid, method, stages.own_variant(study, variant))
            if not found:
                words = _words(variant) or "nothing"
                yield f"{where} varies {words}, which studies.{by} does not tune"
                continue
            yield from _too_few(f"config: studies.{by}", cell, found, grid)
            first = first or (cell, len(found))
            if len(found) != first[1]:
                told = f"{len(found)} trials for {cell} and {first[1]} for {first[0]}"
                some = f"those of some values are taken out by studies.{by}.leave_out"
                yield f"config: studies.{by} has {told}, expected as many for each; {some}"
                return


def _too_few(where: str, cell: str, listed: list[tuning.Values], grid: dict) -> Iterator[str]:
    """Find a setting with one value, of which a rule with stages could not tell its factor."""
    rule = stages.rule_of(grid)
    for key in rule["over"] if tuning.stages(rule["uses"], rule["over"]) else ():
        if len({values[key] for values in listed}) < 2:
            yield f"{where}.vary.{key} has one value for {cell}, expected two: {rule['uses']}"


def _is_grid(study: dict) -> bool:
    return set(_over(study)) <= set(study.get("vary", {}))


def _over(study: dict | None) -> list[str]:
    return stages.rule_of(study or {})["over"]


def _words(variant: dict) -> str:
    return ", ".join(f"{key}={value}" for key, value in variant.items())
