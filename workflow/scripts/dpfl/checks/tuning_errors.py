"""Finds what a study could not be tuned by: a grid, or what is said of how to use it."""

from collections.abc import Iterator

from dpfl import plugins
from dpfl.base.suggestions import nearest, unknown
from dpfl.contracts import bounds
from dpfl.planning.methods import SHORT, grid_values, variants
from dpfl.tables.results import variant_text
from dpfl.tuning.parts import rules
from dpfl.tuning.parts.stages import own_variant, rule_of, tuned_settings

TUNABLE = ("optimizer.", "clipping.")
"""Settings that change neither noise nor clients, which are made before anything is tuned."""


def tuning_errors(config: dict, name: str, study: dict) -> Iterator[str]:
    """Yield a line for every mistake in how a study is tuned, or tunes others."""
    where, vary = f"config: studies.{name}", study.get("vary", {})
    if "tuning" in study:
        yield from _rule_errors(where, vary, tuned_settings(study))
    for key in ("tuned_at", "method_tuned_at", "tuned_once"):
        if key in study and "tuned_by" not in study:
            yield f"{where} has {key} and no tuned_by, which names the study that tunes it"
    once = study.get("tuned_once", [])
    yield from unknown(once, vary, f"{where}.tuned_once has", ", which the study does not vary")
    if "tuned_by" in study:
        yield from _grid_errors(config, name, study)


def _rule_errors(where: str, vary: dict, over: list[str]) -> Iterator[str]:
    """Check that a rule can tune what it is asked to."""
    yield from unknown(over, vary, f"{where}.tuning.over has", ", which it does not vary")
    for key in (key for key in over if key in vary):
        if not SHORT.get(key, key).startswith(TUNABLE):
            expected = "expected a setting of the optimizer or the clipping rule"
            yield f"{where}.tuning.over has {key!r}, {expected}: others change noise or clients"
        elif not bounds.parse("list of number > 0").holds(vary[key]):
            yield f"{where}.vary.{key} = {vary[key]}, expected numbers more than 0: it is tuned"


def _grid_errors(config: dict, name: str, study: dict) -> Iterator[str]:
    """Find methods and variants of a study that its grid does not tune, or not as the others."""
    by, studies = study["tuned_by"], config["studies"]
    grids = {n: s for n, s in studies.items() if {*tuned_settings(s)} <= {*s.get("vary", {})}}
    where, there = f"config: studies.{name}", f"config: studies.{by}"
    if by not in grids:
        over = " and ".join(tuned_settings(studies.get(by, {})))
        expected = f"expected a study that varies {over}"
        yield f"{where}.tuned_by = {by!r}, {expected}; {nearest(by, grids)}"
    elif name in config["select"]:
        grid = grids[by]
        if grid["dataset"] != study["dataset"]:
            expected = f"expected {study['dataset']!r}, that of studies.{name}"
            yield f"{there}.dataset = {grid['dataset']!r}, {expected}"
        if not grid.get("validation_fraction"):
            yield f"{there}.validation_fraction, expected more than 0"
        for method in sorted(set(study["methods"]) - set(grid["methods"])):
            yield f"{where}.methods has {method!r}, which studies.{by} does not tune"
        if rule_of(grid)["uses"] in plugins.names("tuning"):  # else told with other plug-ins
            yield from _effort_errors(where, by, study, grid)


def _effort_errors(where: str, by: str, study: dict, grid: dict) -> Iterator[str]:
    """Compare how many values of a grid the cells of a study start from: as many for each."""
    first = None
    methods = [method for method in study["methods"] if method in grid["methods"]]
    for method, variant in ((m, v) for m in methods for v in variants(study, m)):
        if variant.keys() & set(tuned_settings(grid)):
            continue
        own = own_variant(study, variant)
        cell, found = variant_text({"method": method} | own), grid_values(grid, method, own)
        if not found:
            told = variant_text(variant) or "nothing"
            yield f"{where} varies {told}, which studies.{by} does not tune"
            continue
        yield from _too_few(f"config: studies.{by}", cell, found, grid)
        first = first or (cell, len(found))
        if len(found) != first[1]:
            told = f"{len(found)} trials for {cell} and {first[1]} for {first[0]}"
            some = f"those of some values are taken out by studies.{by}.leave_out"
            yield f"config: studies.{by} has {told}, expected as many for each; {some}"
            return


def _too_few(where: str, cell: str, listed: list[rules.Values], grid: dict) -> Iterator[str]:
    """Find a setting with one value, of which a rule with stages could not tell its factor."""
    rule = rule_of(grid)
    for key in rule["over"] if rules.stages(rule["uses"], rule["over"]) else ():
        if len({values[key] for values in listed}) < 2:
            yield f"{where}.vary.{key} has one value for {cell}, expected two: {rule['uses']}"
