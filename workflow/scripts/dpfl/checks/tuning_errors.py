"""Finds what a study could not be tuned by: a grid, or what is said of how to use it."""

from collections.abc import Iterator

from dpfl.base.suggestions import unknown
from dpfl.contracts import bounds
from dpfl.planning.methods import SHORT, grid_values, variants
from dpfl.tables.results import variant_text
from dpfl.tuning.parts import rules
from dpfl.tuning.parts.stages import own_variant, rule_of, tuned_settings

TUNABLE = ("optimizer.", "clipping.")
"""Settings that change neither noise nor clients, which are made before anything is tuned."""


def tuning_errors(config: dict) -> Iterator[str]:
    """Yield a line for every mistake in how studies are tuned, or tune others."""
    for name, study in config["studies"].items():
        where, vary = f"config: studies.{name}", study.get("vary", {})
        if "tuning" in study:
            yield from _rule_errors(where, vary, rule_of(study))
        once = study.get("tuned_once", [])
        yield from unknown(once, vary, f"{where}.tuned_once has", ", which the study does not vary")
        if "tuned_by" in study:
            yield from _grid_errors(config, name, study)


def _rule_errors(where: str, vary: dict, rule: dict) -> Iterator[str]:
    """Check that a rule can tune what it is asked to: one with stages, by the values' factor."""
    over, staged = rule["over"], rules.stages(rule["uses"], rule["over"])
    yield from unknown(over, vary, f"{where}.tuning.over has", ", which it does not vary")
    for key in (key for key in over if key in vary):
        if not SHORT.get(key, key).startswith(TUNABLE):
            expected = "expected a setting of the optimizer or the clipping rule"
            yield f"{where}.tuning.over has {key!r}, {expected}: others change noise or clients"
        elif not bounds.parse("list of number > 0").holds(vary[key]):
            yield f"{where}.vary.{key} = {vary[key]}, expected numbers more than 0: it is tuned"
        elif staged and len(vary[key]) < 2:
            yield f"{where}.vary.{key} has one value, expected two: {rule['uses']}"


def _grid_errors(config: dict, name: str, study: dict) -> Iterator[str]:
    """Find methods and variants of a study that its grid does not tune, or not as the others."""
    by, studies = study["tuned_by"], config["studies"]
    grids = {n: s for n, s in studies.items() if {*tuned_settings(s)} <= {*s.get("vary", {})}}
    where, there = f"config: studies.{name}", f"config: studies.{by}"
    over = " and ".join(tuned_settings(studies.get(by, {})))
    yield from unknown([by], grids, f"{where}.tuned_by =", f", expected a study that varies {over}")
    if by in grids and name in config["select"]:
        grid = grids[by]
        if grid["dataset"] != study["dataset"]:
            expected = f"expected {study['dataset']!r}, that of studies.{name}"
            yield f"{there}.dataset = {grid['dataset']!r}, {expected}"
        if not grid.get("validation_fraction"):
            yield f"{there}.validation_fraction, expected more than 0"
        told = f", which studies.{by} does not tune"
        yield from unknown(study["methods"], grid["methods"], f"{where}.methods has", told)
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
            told = f"varies {variant_text(variant)}" if variant else f"has {method}"
            yield f"{where} {told}, which studies.{by} does not tune"
            continue
        first = first or (cell, len(found))
        if len(found) != first[1]:
            told = f"{len(found)} trials for {cell} and {first[1]} for {first[0]}"
            some = f"those of some values are taken out by studies.{by}.leave_out"
            yield f"config: studies.{by} has {told}, expected as many for each; {some}"
            return
