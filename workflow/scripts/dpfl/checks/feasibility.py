"""Finds what no run could do: sizes that do not fit, budgets that nothing prices.

Every name and every setting is known to be valid when these checks are made.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from operator import itemgetter

from dpfl import plugins
from dpfl.base.errors import UserError
from dpfl.clients import assignment
from dpfl.clients.participation import local_steps
from dpfl.planning.methods import components, epsilon_of, unit_of, variants
from dpfl.privacy.priceable import MOST_NOISE, MOST_STEPS

CERTIFICATE, PLAIN = "pld", 1e-2
"""From this epsilon on, noise meets every target by the accountant that certifies."""


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


def impossible(papers: Collection[dict]) -> Iterator[str]:
    """Find federations that the data set of a selected study, or of its grid, cannot fill.

    Then plans that cannot be priced, by the delta and the accountant that all papers share.
    """
    uses = sorted((use for config in papers for use in _uses(config)), key=lambda u: u.examples)
    # The same mistake with another number of examples is told once.
    told: dict[str, str] = {}
    for use in uses:
        for mistake, bound in (*_size_errors(use), *_owner_errors(use), *_model_errors(use)):
            told.setdefault(mistake, bound)
    yield from (f"{mistake}, {bound}" for mistake, bound in told.items())
    if told:
        return
    for config in list(papers)[:1]:
        yield from _delta_error(config["delta"], [use for use in uses if use.epsilons])
        yield from _unpriceable(config["delta"], config["accountant"], uses)


def _uses(config: dict) -> Iterator[Use]:
    """Yield what the selected studies, and the trials that tune them, use."""
    studies = config["studies"]
    chosen = {name: studies[name] for name in config["select"] if name in studies}
    trials = [_trials(config, study) for study in chosen.values() if "tuned_by" in study]
    for name, study in [*chosen.items(), *trials]:
        dataset = study["dataset"]
        total = plugins.load("data", dataset).TRAIN_EXAMPLES
        held_out = assignment.held_out(total, study.get("validation_fraction", 0.0))
        finite = tuple(float(e) for e in study["epsilons"] if epsilon_of(e) != "inf")
        for method in study["methods"]:
            for variant in variants(study, method):
                federation = components(config, method, variant)["federation"]
                yield Use(
                    study=name,
                    name=variant.get("federation", config["methods"][method]["federation"]),
                    federation=federation,
                    split=config["partitions"][federation["partition"]],
                    dataset=dataset,
                    model=variant.get("model", config["models"][dataset]),
                    examples=total - held_out - study.get("public_examples", 0),
                    unit=unit_of(config, method, variant),
                    epsilons=finite,
                )


def _trials(config: dict, study: dict) -> tuple[str, dict]:
    """Return the grid that tunes a study, and the study with what the grid holds out."""
    grid = config["studies"][study["tuned_by"]]
    held = {key: grid[key] for key in ("validation_fraction", "public_examples") if key in grid}
    return study["tuned_by"], study | {"public_examples": 0} | held


def _delta_error(delta: float, uses: list[Use]) -> Iterator[str]:
    """Compare delta with the largest number of what is protected."""
    size, noun = max(map(_protected, uses), default=(0, ""))
    if size and delta >= 1 / size:
        yield f"config: delta = {delta}, expected less than 1/{size}, 1/({noun})"


def _protected(use: Use) -> tuple[int, str]:
    """Return how many clients, or examples of a client, a method protects."""
    clients = use.federation["clients"]
    one_of_many = (use.examples // clients, "examples of a client")
    return (clients, "clients") if use.unit == "client" else one_of_many


def _size_errors(use: Use) -> Iterator[tuple[str, str]]:
    """Compare a federation with the examples it must divide; yield each mistake and its bound."""
    where, examples = f"config: federations.{use.name}", use.examples
    keys = ("clients", "batch_size", "min_examples", "clients_per_round")
    clients, batch, least, per_round = (use.federation[key] for key in keys)
    if examples < 1:
        total = plugins.load("data", use.dataset).TRAIN_EXAMPLES
        held_out = f"{total - examples} examples (validation_fraction and public_examples)"
        bound = f"expected fewer than the {total} of {use.dataset}"
        yield f"config: studies.{use.study} holds out {held_out}", bound
        return
    size = examples // clients
    if size < least:
        bound = f"{examples} examples, at least {least} for each client (min_examples)"
        yield f"{where}.clients = {clients}", f"expected at most {examples // least}: {bound}"
    elif batch > size and use.unit == "example":
        yield f"{where}.batch_size = {batch}", f"expected at most the {size} examples of a client"
    if (per_round or 0) > clients:
        yield f"{where}.clients_per_round = {per_round}", f"expected at most {clients}"
    if (use.federation["local_epochs"] is None) == (use.federation["local_steps"] is None):
        yield f"{where}: expected one of local_epochs and local_steps", "the other null"
    shards = use.split.get("labels_per_client", 0) * clients
    if shards > examples:
        found = f"{shards} shards (labels_per_client x clients)"
        bound = f"expected at most {examples} examples"
        yield f"{where} with partitions.{use.federation['partition']}: {found}", bound


def _model_errors(use: Use) -> Iterator[tuple[str, str]]:
    """Compare a network with the shape of the inputs of a data set; None is any size."""
    shape = plugins.load("data", use.dataset).SHAPE
    taken = plugins.constant("models", use.model, "INPUTS")
    fits = (
        len(shape) == len(one) and all(b in (a, None) for a, b in zip(shape, one, strict=True))
        for one in taken
    )
    if taken and not any(fits):
        listed = " or ".join(map(_shape, taken))
        bound = f"those of {use.dataset} are {_shape(shape)}"
        yield f"config: model {use.model} takes inputs {listed}", bound


def _shape(sizes: tuple[int | None, ...]) -> str:
    return " x ".join("any" if size is None else str(size) for size in sizes)


def _owner_errors(use: Use) -> Iterator[tuple[str, str]]:
    """Compare a federation by natural clients with those that the data set has."""
    if assignment.divides(use.split["uses"]) != "owners":
        return
    where, clients = f"config: federations.{use.name}", use.federation["clients"]
    beside = f"with partitions.{use.federation['partition']}"
    owners = plugins.constant("data", use.dataset, "CLIENTS", None)
    if owners is None:
        have = [n for n in plugins.names("data") if plugins.constant("data", n, "CLIENTS", None)]
        bound = f"expected a data set with CLIENTS: {', '.join(have) or 'there is none'}"
        yield f"{where} {beside}: {use.dataset} has no natural clients", bound
    elif clients > owners:
        bound = f"expected at most {owners}, the natural clients of {use.dataset}"
        yield f"{where}.clients = {clients} {beside}", bound


def _unpriceable(delta: float, accountant: str, uses: list[Use]) -> Iterator[str]:
    """Find federations, each once, whose steps or budgets the accountant cannot price."""
    spent = dict.fromkeys((use.name, *_spent(use), use.epsilons) for use in uses)
    told: dict[str, list[str]] = {}
    for name, rate, steps, epsilons in sorted(spent, key=itemgetter(2), reverse=True):
        where = f"federations.{name}"
        if told.get(name):
            continue
        if steps > MOST_STEPS:
            told[name] = [f"config: {where} takes {steps} steps, expected at most {MOST_STEPS}"]
        elif epsilons:
            found = _accountant_errors(where, rate, steps, min(epsilons), delta, accountant)
            told[name] = list(found)
    for found in told.values():
        yield from found


def _spent(use: Use) -> tuple[float, int]:
    """Return sampling rate and steps of the one who spends most, as far as sizes are known."""
    federation, clients = use.federation, use.federation["clients"]
    if use.unit == "client":
        return (federation["clients_per_round"] or clients) / clients, federation["rounds"]
    size, batch = use.examples // clients, federation["batch_size"]
    steps = local_steps(size, batch, federation["local_epochs"], federation["local_steps"])
    return batch / size, federation["rounds"] * steps


def _accountant_errors(
    where: str, rate: float, steps: int, least: float, delta: float, accountant: str
) -> Iterator[str]:
    """Price the steps with so much noise that nothing could be learned; imports the accountant."""
    chosen, package = f"config: accountant = {accountant}", "privacy/accountants"
    if rate < 1 and not plugins.constant(package, accountant, "SAMPLED", True):
        known = plugins.names(package)
        able = [name for name in known if plugins.constant(package, name, "SAMPLED", True)]
        told = f"which prices no sampled batches, as {where} draws them"
        yield f"{chosen}, {told}; expected one of {', '.join(able)}"
        return
    if accountant == CERTIFICATE and least >= PLAIN:
        return
    from dpfl.privacy import accounting

    try:
        cheapest = accounting.epsilon(rate, MOST_NOISE, steps, delta, accountant)
    except UserError as error:
        yield f"{chosen}: {error}"
        return
    if cheapest > least:
        told = f"prices the {steps} steps of {where} at {cheapest:.3g} or more"
        yield f"{chosen} {told}, epsilon is {least:g}"
