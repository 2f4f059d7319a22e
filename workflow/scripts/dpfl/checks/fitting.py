"""Whether the components of a method go together, and a study has what it and its figures need.

Every name and every setting is known to be valid when these checks are made.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any

from dpfl import plugins, tuning
from dpfl.base.errors import UserError
from dpfl.checks.plugin_settings import out_of_bounds
from dpfl.clients import assignment
from dpfl.papers import datasets
from dpfl.planning import stages
from dpfl.planning.methods import PLUG_INS, components, unit_of, variants

Parts = dict[str, dict[str, Any]]
"""Settings of the `mechanism`, the `clipping` and any `optimizer`, as a run names them."""
MOST_RUNS = 100_000
"""Of a study; more are a mistake, and would take minutes to list."""
KINDS: dict[str, dict[str, Any]] = {
    "compare": {},
    "rates": {"HOLDS_OUT": True, "VARIES": ("rate",)},
    "variants": {"VARIES_SOME": True},
}
"""What a kind of study needs, as a figure declares it."""


def misfits(parts: Parts) -> Iterator[str]:
    """Tell what does not go together, each as words that follow a method's name."""
    estimator, rule = parts["mechanism"]["estimator"], parts["clipping"]["rule"]
    taken = plugins.constant("mechanisms", estimator, "CLIPPING_RULES")
    if rule not in taken:
        listed = f"expected {' or '.join(taken)} with {estimator}"
        because = "; ".join(plugins.constant("clippings", rule, "REASONS"))
        reason = f"its proof covers no other: {because}" if because else "it takes no other"
        yield f"clips by rule {rule!r}, {listed}; {reason}"
    for part, reason in plugins.constant("mechanisms", estimator, "REFUSES"):
        if part.items() <= parts["mechanism"].items():
            found = " and ".join(f"{key} {value}" for key, value in part.items())
            yield f"has {found} with {estimator}: {reason}"
    algorithm = parts.get("optimizer", {}).get("algorithm")
    if algorithm and plugins.constant("optimizers", algorithm, "NEEDS_NOISE"):
        yield from unknown_noise(parts, algorithm)


def unknown_noise(parts: Parts, optimizer: str) -> Iterator[str]:
    """Tell why nobody could tell an optimizer that needs it the noise of a step, if so."""
    estimator, rule = parts["mechanism"]["estimator"], parts["clipping"]["rule"]
    asks = f"has optimizer {optimizer}, which asks for the noise of a step"
    if not plugins.constant("mechanisms", estimator, "NOISE_IS_Z_C"):
        yield f"{asks}: that of {estimator} is not z C in every coordinate, expected one like dpsgd"
    because = "; ".join(plugins.constant("clippings", rule, "REASONS"))
    if because:
        yield f"{asks}: with clipping rule {rule} it is not public, {because}"


def needs_public(mechanism: dict[str, Any]) -> bool:
    """Tell whether a mechanism, with these settings, uses examples declared public."""
    needs = plugins.constant("mechanisms", mechanism["estimator"], "NEEDS_PUBLIC")
    if isinstance(needs, bool):
        return needs
    return any(mechanism.get(key) == value for key, value in needs.items())


def mismatches(config: dict) -> Iterator[str]:
    """Find components of studies that do not fit together: rules, units, numbers out of bounds."""
    for name, study in config["studies"].items():
        where, units = f"config: studies.{name}", {}
        yield from lacking(where, study)
        for method in study["methods"]:
            for variant in variants(study, method):
                try:
                    parts = components(config, method, variant)
                except UserError as error:
                    yield f"{where}.vary: {error}, for {method}"
                    break
                unit = unit_of(config, method, variant)
                units.setdefault(unit, method)
                yield from _out_of_bounds(f"{where}: {method}", parts)
                yield from (f"{where}: {method} {found}" for found in misfits(parts))
                if unit == "client":
                    yield from _example_level(f"{where}: {method}", parts)
                yield from _beyond_the_grid(where, config, study, method, variant)
                if needs_public(parts["mechanism"]) and not study.get("public_examples"):
                    yield f"{where}.public_examples, expected more than 0: {method} uses some"
        if len(units) > 1:
            found = ", ".join(f"{unit} ({method})" for unit, method in sorted(units.items()))
            yield f"{where}.methods protect {found}, expected one unit: they share no column"


def _out_of_bounds(where: str, parts: dict) -> Iterator[str]:
    """Check what a study varies against the bounds that its plug-ins declare."""
    for component in (name for name in PLUG_INS if name in parts):
        (package, key), part = PLUG_INS[component], parts[component]
        yield from out_of_bounds(where, package, part[key], part.get("settings", part))


def _beyond_the_grid(
    where: str, config: dict, study: dict, method: str, variant: dict
) -> Iterator[str]:
    """Check how far a rule with stages may go outwards from a grid, by its factor at a time."""
    rule = stages.rule_of(study)
    steps = Counter(stage.along for stage in tuning.stages(rule["uses"], rule["over"]))
    for key in (key for key in rule["over"] if steps[key] and key in study.get("vary", {})):
        ladder = sorted(study["vary"][key])
        factor = max((high / low for low, high in pairwise(ladder)), default=1) ** steps[key]
        for end in (ladder[0] / factor, ladder[-1] * factor):
            beyond = components(config, method, variant | {key: end})
            told = f"{where}: {rule['uses']} may go on from {key} = {ladder[0]:g} to {ladder[-1]:g}"
            yield from _out_of_bounds(told, beyond)


def _example_level(where: str, parts: dict) -> Iterator[str]:
    """Find what protects single examples in a method that protects clients."""
    if "statistics" in parts:
        yield f"{where} has statistics, which protect one example, with unit client"
    for key, needed in (("weighting", "uniform"), ("state", "reset")):
        found = parts["federation"][key]
        if found != needed:
            yield f"{where} has {key} {found!r}, expected {needed!r} with unit client"


def lacking(where: str, study: dict) -> Iterator[str]:
    """Yield a line for everything that a study lacks; `where` names it."""
    if not any(variants(study, method) for method in study["methods"]):
        yield f"{where}.leave_out leaves nothing, expected at least one combination that is run"
    kind = study["kind"]
    for line in _lacks(study, lambda name, default: KINDS[kind].get(name, default)):
        yield f"{where}.{line}: kind {kind}"
    for figure in study.get("figures", []):
        for line in _lacks(study, partial(plugins.constant, "figures/kinds", figure)):
            yield f"{where}.{line}: figure {figure}"


def too_many(config: dict) -> Iterator[str]:
    """Yield a line for every study that varies so much that its runs cannot be listed."""
    for name, study in config["studies"].items():
        varied = [study["methods"], study["epsilons"], study["seeds"]]
        count = math.prod(map(len, [*varied, *study.get("vary", {}).values()]))
        if count > MOST_RUNS:
            yield f"config: studies.{name} makes {count} runs, expected at most {MOST_RUNS}"


def _lacks(study: dict, declared: Callable[[str, Any], Any]) -> Iterator[str]:
    """Find what is declared, by name with a default, and a study does not have."""
    vary = study.get("vary", {})
    if declared("VARIES_SOME", False) and not vary:
        yield "vary is missing, expected at least one setting"
    least = declared("LEAST_SEEDS", 1)
    seeds = {key: study[key] for key in ("seeds", "nonprivate_seeds") if key in study}
    seeds |= {f"method_seeds.{k}": v for k, v in study.get("method_seeds", {}).items()}
    few = {key: given for key, given in seeds.items() if len(given) < least}
    yield from (f"{key} has {len(given)}, expected at least {least}" for key, given in few.items())
    if declared("HOLDS_OUT", False):
        yield from _held_out(study)
    if declared("NO_PUBLIC", False) and study.get("public_examples"):
        yield "public_examples, expected none"
    yield from (
        f"vary has no {key!r}, expected one" for key in declared("VARIES", ()) if key not in vary
    )
    yield from _numbers(vary, declared("NUMBERS", None))


def _held_out(study: dict) -> Iterator[str]:
    fraction = study.get("validation_fraction", 0)
    total = plugins.constant("data", datasets.base(study["dataset"]), "TRAIN_EXAMPLES")
    if not fraction:
        yield "validation_fraction, expected more than 0"
    elif not assignment.held_out(total, fraction):
        yield f"validation_fraction = {fraction:g} holds none of {total} examples out"


def _numbers(vary: dict[str, list], wanted: int | None) -> Iterator[str]:
    """Compare how many settings vary in numbers, as `tables.results.numeric_keys` counts them."""
    varied = vary.items()
    found = [k for k, vs in varied if len(vs) > 1 and all(isinstance(v, int | float) for v in vs)]
    if wanted is not None and len(found) != wanted:
        told = " and ".join(found) or "none"
        yield f"vary has numbers in {told}, expected {wanted} settings with more than one number"
