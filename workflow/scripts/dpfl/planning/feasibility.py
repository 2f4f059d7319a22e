"""Finds what a configuration asks for and no run could do: parts or sizes that do not fit.

Every name and every setting of it is known to be valid when these checks are made.
"""

import json
import math
from collections.abc import Iterator

from dpfl import plugins
from dpfl.planning.methods import COMPONENTS, NUMBERS, components, epsilon_of, unit_of, variants


def mismatches(config: dict) -> Iterator[str]:
    """Find components that do not fit together: clipping rules, units, numbers that none takes."""
    for name, study in config["studies"].items():
        where, units = f"config: studies.{name}", {}
        for method in study["methods"]:
            for variant in variants(study, method):
                parts = components(config, method, variant)
                units.setdefault(unit_of(config, method, variant), method)
                yield from _misfits(where, method, parts, unit_of(config, method, variant))
                if _needs_public(parts["mechanism"]) and not study.get("public_examples"):
                    yield f"{where}.public_examples, expected more than 0: {method} uses some"
            for key in set(study.get("vary", {})) & set(NUMBERS):
                component = NUMBERS[key]
                chosen = study["vary"].get(component, [config["methods"][method][component]])
                for part in chosen:
                    if key not in config[COMPONENTS[component]][part]:
                        yield f"{where}.vary.{key}: {component} {part!r} of {method} has none"
        if len(units) > 1:
            found = ", ".join(f"{unit} ({method})" for unit, method in sorted(units.items()))
            yield f"{where}.methods protect {found}, expected one unit: they share no column"


def _misfits(where: str, method: str, parts: dict, unit: str) -> Iterator[str]:
    """Compare a method's mechanism with its clipping rule and its federation."""
    estimator, rule = parts["mechanism"]["estimator"], parts["clipping"]["rule"]
    taken = plugins.constant("mechanisms", estimator, "CLIPPING_RULES", ("fixed",))
    if rule not in taken:
        listed = " or ".join(taken)
        reason = f"with {estimator}, which says nothing of another"
        yield f"{where}: {method} clips by rule {rule!r}, expected {listed} {reason}"
    if unit == "client":
        for key, needed in (("weighting", "uniform"), ("state", "reset")):
            if parts["federation"][key] != needed:
                found = parts["federation"][key]
                yield f"{where}: {method} has {key} {found!r}, expected {needed!r} with unit client"


def _needs_public(mechanism: dict) -> bool:
    """Tell whether a mechanism, with these settings, uses examples declared public."""
    needs = plugins.constant("mechanisms", mechanism["estimator"], "NEEDS_PUBLIC", False)
    if isinstance(needs, bool):
        return needs
    return any(mechanism.get(key) == value for key, value in needs.items())


def impossible(config: dict) -> Iterator[str]:
    """Find federations that the data set of a selected study, or of its grid, cannot fill."""
    found: dict[str, None] = {}
    chosen = [name for name in config["select"] if name in config["studies"]]
    tuning = [config["studies"][name].get("tuned_by") for name in chosen]
    for name in dict.fromkeys([*chosen, *filter(None, tuning)]):
        study = config["studies"][name]
        total = plugins.load("data", study["dataset"]).TRAIN_EXAMPLES
        held_out = math.floor(total * study.get("validation_fraction", 0.0) + 1e-9)
        examples = total - held_out - study.get("public_examples", 0)
        private = any(epsilon_of(e) != "inf" for e in study["epsilons"])
        for method in study["methods"]:
            for variant in variants(study, method):
                named = variant.get("federation", config["methods"][method]["federation"])
                federation = components(config, method, variant)["federation"]
                unit = unit_of(config, method, variant)
                use = (named, federation, examples, unit, private)
                found[json.dumps(use)] = None
    uses = sorted((json.loads(use) for use in found), key=lambda use: use[2])
    told = set()
    for line in (*_sizes(config, uses), *_deltas(config, uses)):
        # The same mistake with another number of examples is told once.
        if line.split(",")[0] not in told:
            told.add(line.split(",")[0])
            yield line


def _sizes(config: dict, uses: list[list]) -> Iterator[str]:
    for name, federation, examples, unit, _ in uses:
        yield from _size_errors(config, name, federation, examples, unit)


def _deltas(config: dict, uses: list[list]) -> Iterator[str]:
    """Compare delta with the largest number of what is protected."""
    protected = [
        (federation["clients"], "clients")
        if unit == "client"
        else (examples // federation["clients"], "examples of a client")
        for _, federation, examples, unit, private in uses
        if private
    ]
    delta, (size, noun) = config["delta"], max(protected, default=(0, ""))
    if size and delta >= 1 / size:
        yield f"config: delta = {delta}, expected less than 1/{size}, 1/({noun})"


def _size_errors(
    config: dict, name: str, federation: dict, examples: int, unit: str
) -> Iterator[str]:
    """Compare a federation with the number of examples it must divide."""
    where = f"config: federations.{name}"
    clients, batch, least = (federation[k] for k in ("clients", "batch_size", "min_examples"))
    if examples // clients < least:
        yield (
            f"{where}.clients = {clients}, expected at most {examples // least}: {examples} "
            f"examples, at least {least} for each client (min_examples)"
        )
    elif batch > examples // clients and unit == "example":
        size = examples // clients
        yield f"{where}.batch_size = {batch}, expected at most the {size} examples of a client"
    if (federation["clients_per_round"] or 0) > clients:
        per_round = federation["clients_per_round"]
        yield f"{where}.clients_per_round = {per_round}, expected at most {clients}"
    if (federation["local_epochs"] is None) == (federation["local_steps"] is None):
        yield f"{where}: expected one of local_epochs and local_steps, the other null"
    partition = federation["partition"]
    shards = config["partitions"][partition].get("labels_per_client", 0) * clients
    if shards > examples:
        yield (
            f"{where} with partitions.{partition}: {shards} shards "
            f"(labels_per_client x clients), expected at most {examples} examples"
        )
