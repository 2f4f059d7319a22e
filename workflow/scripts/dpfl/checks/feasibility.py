"""Finds what a configuration asks for and no run could do: parts or sizes that do not fit.

Every name and every setting of it is known to be valid when these checks are made.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from dpfl import plugins, tuning
from dpfl.base.errors import UserError
from dpfl.checks.fitting import misfits, needs_public
from dpfl.checks.lacking import lacking
from dpfl.checks.pricing import Spending, unpriceable
from dpfl.clients import assignment
from dpfl.clients.participation import local_steps
from dpfl.planning import stages
from dpfl.planning.methods import PLUG_INS, components, epsilon_of, unit_of, variants
from dpfl.plugins import bounds


def mismatches(config: dict) -> Iterator[str]:
    """Find components that do not fit together: clipping rules, units, numbers that none takes."""
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
                units.setdefault(unit_of(config, method, variant), method)
                yield from _out_of_bounds(f"{where}: {method}", parts)
                yield from _misfits(where, method, parts, unit_of(config, method, variant))
                yield from _beyond_the_grid(where, config, study, method, variant)
                if needs_public(parts["mechanism"]) and not study.get("public_examples"):
                    yield f"{where}.public_examples, expected more than 0: {method} uses some"
        if len(units) > 1:
            found = ", ".join(f"{unit} ({method})" for unit, method in sorted(units.items()))
            yield f"{where}.methods protect {found}, expected one unit: they share no column"


def _out_of_bounds(where: str, parts: dict) -> Iterator[str]:
    """Check what a study varies against the bounds that its plug-ins declare."""
    for component, part in parts.items():
        if component in PLUG_INS:
            package, key = PLUG_INS[component]
            declared = plugins.constant(package, part[key], "SETTINGS")
            try:
                bounds.check(where, declared, part.get("settings", part))
            except UserError as error:
                yield str(error)


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


def _misfits(where: str, method: str, parts: dict, unit: str) -> Iterator[str]:
    """Compare a method's mechanism with its clipping rule and its federation."""
    yield from (f"{where}: {method} {found}" for found in misfits(parts))
    if unit == "client" and "statistics" in parts:
        yield f"{where}: {method} has statistics, which protect one example, with unit client"
    if unit == "client":
        for key, needed in (("weighting", "uniform"), ("state", "reset")):
            if parts["federation"][key] != needed:
                found = parts["federation"][key]
                yield f"{where}: {method} has {key} {found!r}, expected {needed!r} with unit client"


@dataclass(frozen=True)
class Use:
    """A federation as a method of a study uses it: how many examples it divides, for what unit."""

    study: str
    name: str
    federation: dict
    split: dict
    dataset: str
    model: str
    examples: int
    unit: str
    epsilons: tuple[float, ...]
    """The finite ones."""
    delta: float
    accountant: str


def impossible(papers: Iterable[dict]) -> Iterator[str]:
    """Find federations that the data set of a selected study, or of its grid, cannot fill."""
    uses = sorted((use for config in papers for use in _uses(config)), key=lambda u: u.examples)
    # The same mistake with another number of examples is told once.
    told: dict[str, str] = {}
    for use in uses:
        for mistake, bound in (*_size_errors(use), *_owner_errors(use), *_model_errors(use)):
            told.setdefault(mistake, bound)
    yield from (f"{mistake}, {bound}" for mistake, bound in told.items())
    if told:
        return
    for delta in {use.delta: None for use in uses}:
        yield from _delta_error(delta, [use for use in uses if use.epsilons and use.delta == delta])
    yield from unpriceable(map(_spending, uses))


def _uses(config: dict) -> Iterator[Use]:
    """Yield what the selected studies, and the trials that tune them, use."""
    studies = config["studies"]
    chosen = {name: studies[name] for name in config["select"] if name in studies}
    trials = [_trials(config, study) for study in chosen.values() if "tuned_by" in study]
    for name, study in [*chosen.items(), *trials]:
        total = plugins.load("data", study["dataset"]).TRAIN_EXAMPLES
        held_out = assignment.held_out(total, study.get("validation_fraction", 0.0))
        examples = total - held_out - study.get("public_examples", 0)
        finite = tuple(float(e) for e in study["epsilons"] if epsilon_of(e) != "inf")
        for method in study["methods"]:
            for variant in variants(study, method):
                named = variant.get("federation", config["methods"][method]["federation"])
                federation = components(config, method, variant)["federation"]
                unit = unit_of(config, method, variant)
                split = config["partitions"][federation["partition"]]
                yield Use(
                    name,
                    named,
                    federation,
                    split,
                    study["dataset"],
                    variant.get("model", config["models"][study["dataset"]]),
                    examples,
                    unit,
                    finite,
                    config["delta"],
                    config["accountant"],
                )


def _trials(config: dict, study: dict) -> tuple[str, dict]:
    """Return the grid that tunes a study, and the study with what the grid holds out."""
    grid = config["studies"][study["tuned_by"]]
    held = {key: grid[key] for key in ("validation_fraction", "public_examples") if key in grid}
    return study["tuned_by"], study | {"public_examples": 0} | held


def _delta_error(delta: float, uses: list[Use]) -> Iterator[str]:
    """Compare delta with the largest number of what is protected."""
    protected = [
        (use.federation["clients"], "clients")
        if use.unit == "client"
        else (use.examples // use.federation["clients"], "examples of a client")
        for use in uses
    ]
    size, noun = max(protected, default=(0, ""))
    if size and delta >= 1 / size:
        yield f"config: delta = {delta}, expected less than 1/{size}, 1/({noun})"


def _size_errors(use: Use) -> Iterator[tuple[str, str]]:
    """Compare a federation with the examples it must divide; yield each mistake and its bound."""
    where, federation, examples = f"config: federations.{use.name}", use.federation, use.examples
    clients, batch, least = (federation[k] for k in ("clients", "batch_size", "min_examples"))
    if examples < 1:
        total = plugins.load("data", use.dataset).TRAIN_EXAMPLES
        yield (
            f"config: studies.{use.study} holds out {total - examples} examples "
            "(validation_fraction and public_examples)",
            f"expected fewer than the {total} of {use.dataset}",
        )
        return
    if examples // clients < least:
        yield (
            f"{where}.clients = {clients}",
            f"expected at most {examples // least}: {examples} "
            f"examples, at least {least} for each client (min_examples)",
        )
    elif batch > examples // clients and use.unit == "example":
        size = examples // clients
        yield f"{where}.batch_size = {batch}", f"expected at most the {size} examples of a client"
    if (federation["clients_per_round"] or 0) > clients:
        per_round = federation["clients_per_round"]
        yield f"{where}.clients_per_round = {per_round}", f"expected at most {clients}"
    if (federation["local_epochs"] is None) == (federation["local_steps"] is None):
        yield f"{where}: expected one of local_epochs and local_steps", "the other null"
    split = federation["partition"]
    shards = use.split.get("labels_per_client", 0) * clients
    if shards > examples:
        yield (
            f"{where} with partitions.{split}: {shards} shards (labels_per_client x clients)",
            f"expected at most {examples} examples",
        )


def _model_errors(use: Use) -> Iterator[tuple[str, str]]:
    """Compare a network with the shape of the inputs of a data set."""
    shape = plugins.load("data", use.dataset).SHAPE
    taken = plugins.constant("models", use.model, "INPUTS")
    if taken and not any(_is_like(shape, one) for one in taken):
        listed = " or ".join(map(_shape, taken))
        yield (
            f"config: model {use.model} takes inputs {listed}",
            (f"those of {use.dataset} are {_shape(shape)}"),
        )


def _is_like(shape: tuple[int, ...], taken: tuple[int | None, ...]) -> bool:
    """Tell whether an input has the dimensions that are taken, None for any."""
    pairs = zip(shape, taken, strict=False)
    return len(shape) == len(taken) and all(b in (a, None) for a, b in pairs)


def _shape(sizes: tuple[int | None, ...]) -> str:
    return " x ".join("any" if size is None else str(size) for size in sizes)


def _spending(use: Use) -> Spending:
    """Return the sampled steps of the one who spends most, as far as sizes are known by now."""
    federation, clients = use.federation, use.federation["clients"]
    if use.unit == "client":
        rate, steps = (federation["clients_per_round"] or clients) / clients, 1
    else:
        size, batch = use.examples // clients, federation["batch_size"]
        rate = batch / size
        steps = local_steps(size, batch, federation["local_epochs"], federation["local_steps"])
    return Spending(
        use.name, rate, federation["rounds"] * steps, use.epsilons, use.delta, use.accountant
    )


def _owner_errors(use: Use) -> Iterator[tuple[str, str]]:
    """Compare a federation by natural clients with those that the data set has."""
    split, clients = use.federation["partition"], use.federation["clients"]
    if assignment.divides(use.split["uses"]) != "owners":
        return
    where = f"config: federations.{use.name}"
    owners = plugins.constant("data", use.dataset, "CLIENTS", None)
    if owners is None:
        have = [n for n in plugins.names("data") if plugins.constant("data", n, "CLIENTS", None)]
        listed = ", ".join(have) or "there is none"
        mistake = f"{where} with partitions.{split}: {use.dataset} has no natural clients"
        yield mistake, f"expected a data set with CLIENTS: {listed}"
    elif clients > owners:
        yield (
            f"{where}.clients = {clients} with partitions.{split}",
            f"expected at most {owners}, the natural clients of {use.dataset}",
        )
