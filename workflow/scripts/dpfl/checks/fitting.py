"""Whether the components of a method go together, and a study has what it and its figures need.

Every name and every setting is known to be valid when these checks are made.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.checks.plugin_settings import given, out_of_bounds, sampling_errors
from dpfl.clients import assignment
from dpfl.mechanisms.parts.fitting import (
    example_level,
    misdrawn,
    misfits,
    needs_public,
    wrong_unit,
)
from dpfl.planning.methods import PLUG_INS, Composition, compositions, variants
from dpfl.tuning.parts import rules, stages

MOST_RUNS = 100_000
"""Of a study; more are a mistake, and would take minutes to list."""


def mismatches(config: dict) -> Iterator[str]:
    """Find components of studies that do not fit together: rules, units, numbers out of bounds."""
    for name, study in config["studies"].items():
        where, units = f"config: studies.{name}", {}
        yield from lacking(where, study)
        for method in compositions(config, study):
            try:
                units.setdefault(method.unit, method.method)
            except UserError as error:
                yield f"{where}.vary: {error}, for {method.method}"
                continue
            yield from _out_of_bounds(f"{where}: {method.method}", method)
            own = method.parts
            yield from sampling_errors(f"{where}: {method.method}", method.federation)
            unfit = [*misfits(own), *example_level(own), *wrong_unit(own), *misdrawn(own)]
            yield from (f"{where}: {method.method} {found}" for found in unfit)
            yield from _beyond_the_grid(where, method)
            if needs_public(method.parts["mechanism"]) and not study.get("public_examples"):
                yield f"{where}.public_examples, expected more than 0: {method.method} uses some"
        if len(units) > 1:
            found = ", ".join(f"{unit} ({method})" for unit, method in sorted(units.items()))
            yield f"{where}.methods protect {found}, expected one unit: they share no column"


def _out_of_bounds(where: str, method: Composition) -> Iterator[str]:
    """Check what a study varies against the bounds that its plug-ins declare."""
    for component, (package, key) in PLUG_INS.items():
        if (part := method.parts.get(component)) and key in part:
            yield from out_of_bounds(where, package, part[key], given(part))


def _beyond_the_grid(where: str, method: Composition) -> Iterator[str]:
    """Check how far a rule with stages may go outwards from a grid, by its factor at a time."""
    rule, vary = stages.rule_of(method.study), method.study.get("vary", {})
    steps = Counter(stage.along for stage in rules.stages(rule["uses"], rule["over"]))
    for key in (key for key in rule["over"] if steps[key] and key in vary):
        low, high = min(vary[key]), max(vary[key])
        told = f"{where}: {rule['uses']} may go on from {key} = {low:g} to {high:g}"
        for end in stages.ends(vary[key], steps[key]):
            yield from _out_of_bounds(told, replace(method, variant=method.variant | {key: end}))


def lacking(where: str, study: dict) -> Iterator[str]:
    """Yield a line for everything that a study lacks; `where` names it."""
    if not any(variants(study, method) for method in study["methods"]):
        yield f"{where}.leave_out leaves nothing, expected at least one combination that is run"
    for figure in study.get("figures", []):
        declared = partial(plugins.constant, "figures/kinds", figure)
        yield from (f"{where}.{line}: figure {figure}" for line in _lacks(study, declared))


def too_many(config: dict) -> Iterator[str]:
    """Yield a line for every study that varies so much that its runs cannot be listed."""
    for name, study in config["studies"].items():
        varied = [study["methods"], study["epsilons"], study["seeds"]]
        count = math.prod(map(len, [*varied, *study.get("vary", {}).values()]))
        if count > MOST_RUNS:
            yield f"config: studies.{name} makes {count} runs, expected at most {MOST_RUNS}"


def _lacks(study: dict, declared: Callable[[str, Any], Any]) -> Iterator[str]:
    """Find what a figure declares, by name with a default, and a study does not have."""
    vary, least = study.get("vary", {}), declared("LEAST_SEEDS", 1)
    seeds = {key: study[key] for key in ("seeds", "nonprivate_seeds") if key in study}
    seeds |= {f"method_seeds.{k}": v for k, v in study.get("method_seeds", {}).items()}
    counts = {key: len(given) for key, given in seeds.items()}
    yield from (f"{k} has {n}, expected at least {least}" for k, n in counts.items() if n < least)
    total = plugins.constant("data", study["dataset"], "TRAIN_EXAMPLES")
    share = study.get("validation_fraction", 0)
    if declared("HOLDS_OUT", False) and not assignment.held_out(total, share):
        yield f"validation_fraction = {share:g} holds none of {total} examples out"
    if declared("NO_PUBLIC", False) and study.get("public_examples"):
        yield "public_examples, expected none"
    lacks = [key for key in declared("VARIES", ()) if key not in vary]
    yield from (f"vary has no {key!r}, expected one" for key in lacks)
    yield from _numbers(vary, declared("NUMBERS", None))


def _numbers(vary: dict[str, list], wanted: int | None) -> Iterator[str]:
    """Compare how many settings vary in numbers, as `tables.results.numeric_keys` counts them."""
    several = {key: values for key, values in vary.items() if len(values) > 1}
    found = [k for k, vs in several.items() if all(isinstance(v, int | float) for v in vs)]
    if wanted is not None and len(found) != wanted:
        told = " and ".join(found) or "none"
        yield f"vary has numbers in {told}, expected {wanted} settings with more than one number"
