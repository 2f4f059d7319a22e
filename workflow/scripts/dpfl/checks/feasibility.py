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
from dpfl.planning.methods import Composition, compositions, epsilons
from dpfl.privacy.priceable import MOST_NOISE, MOST_STEPS

CERTIFICATE, PLAIN = "pld", 1e-2
"""From this epsilon on, noise meets every target by the accountant that certifies."""
Mistake = tuple[str, str]
"""What is wrong, and its bound. The same mistake with another bound is told once."""


@dataclass(frozen=True)
class Use(Composition):
    """A method as a study of some name uses it, and how many examples its clients divide."""

    name: str
    examples: int

    @property
    def where(self) -> str:
        """Return the place of the federation in the configuration."""
        return f"federations.{self.names['federation']}"

    @property
    def least(self) -> float | None:
        """Return the smallest privacy budget of the study, if it has a finite one."""
        return min((e for e in epsilons(self.study) if e != "inf"), default=None)


def impossible(papers: Collection[dict]) -> Iterator[str]:
    """Find federations that the data set of a selected study, or of its grid, cannot fill.

    Then plans that cannot be priced, by the delta and the accountant that all papers share.
    """
    uses = sorted((use for config in papers for use in _uses(config)), key=lambda u: u.examples)
    told: dict[str, str] = {}
    for use in uses:
        for mistake, bound in (*_size_errors(use), *_owner_errors(use), *_model_errors(use)):
            told.setdefault(mistake, bound)
    yield from (f"{mistake}, {bound}" for mistake, bound in told.items())
    if uses and not told:
        delta, accountant = (uses[0].config[key] for key in ("delta", "accountant"))
        yield from _delta_error(delta, uses)
        yield from _unpriceable(delta, accountant, uses)


def _uses(config: dict) -> Iterator[Use]:
    """Yield what the selected studies, and the trials that tune them, use."""
    studies = config["studies"]
    chosen = [(name, studies[name]) for name in config["select"] if name in studies]
    trials = [_trials(config, study) for _, study in chosen if "tuned_by" in study]
    for name, study in chosen + trials:
        total = plugins.load("data", study["dataset"]).TRAIN_EXAMPLES
        validation = assignment.held_out(total, study.get("validation_fraction", 0.0))
        examples = total - validation - study.get("public_examples", 0)
        for own in compositions(config, study):
            yield Use(config, study, own.method, own.variant, name, examples)


def _trials(config: dict, study: dict) -> tuple[str, dict]:
    """Return the grid that tunes a study, and the study with what the grid holds out."""
    grid = config["studies"][study["tuned_by"]]
    held = {key: grid[key] for key in ("validation_fraction", "public_examples") if key in grid}
    return study["tuned_by"], study | {"public_examples": 0} | held


def _delta_error(delta: float, uses: list[Use]) -> Iterator[str]:
    """Compare delta with the largest number of what is protected."""
    size, noun = max((_protected(use) for use in uses if use.least), default=(0, ""))
    if size and delta >= 1 / size:
        yield f"config: delta = {delta}, expected less than 1/{size}, 1/({noun})"


def _protected(use: Use) -> tuple[int, str]:
    """Return how many clients, or examples of a client, a method protects."""
    clients = use.federation["clients"]
    one_of_many = (use.examples // clients, "examples of a client")
    return (clients, "clients") if use.unit == "client" else one_of_many


def _size_errors(use: Use) -> Iterator[Mistake]:
    """Compare a federation with the examples it must divide."""
    where, examples = f"config: {use.where}", use.examples
    keys = ("clients", "batch_size", "min_examples", "clients_per_round", "partition")
    clients, batch, least, per_round, split = (use.federation[key] for key in keys)
    if examples < 1:
        total = plugins.load("data", use.study["dataset"]).TRAIN_EXAMPLES
        held_out = f"{total - examples} examples (validation_fraction and public_examples)"
        bound = f"expected fewer than the {total} of {use.study['dataset']}"
        yield f"config: studies.{use.name} holds out {held_out}", bound
        return
    divided = use.config["partitions"][split]
    copies = divided.get("copies", 1)
    if plugins.constant("clients/partitions", divided["uses"], "REPEATS") and use.unit != "client":
        told = f"{where} with partitions.{split} deals examples out to several clients"
        yield told, "expected a method that protects whole clients"
    size = copies * examples // clients
    if size < least:
        bound = f"{examples} examples, at least {least} for each client (min_examples)"
        yield f"{where}.clients = {clients}", f"expected at most {examples // least}: {bound}"
    elif batch > size and use.unit == "example":
        yield f"{where}.batch_size = {batch}", f"expected at most the {size} examples of a client"
    if (per_round or 0) > clients:
        yield f"{where}.clients_per_round = {per_round}", f"expected at most {clients}"
    if (use.federation["local_epochs"] is None) == (use.federation["local_steps"] is None):
        yield f"{where}: expected one of local_epochs and local_steps", "the other null"
    shards = divided.get("labels_per_client", 0) * clients // copies
    if shards > examples:
        found = f"{shards} shards (labels_per_client x clients)"
        yield f"{where} with partitions.{split}: {found}", f"expected at most {examples} examples"


def _model_errors(use: Use) -> Iterator[Mistake]:
    """Compare a network with the shape of the inputs of a data set; None is any size."""
    dataset, model = use.study["dataset"], use.model
    shape, taken = plugins.load("data", dataset).SHAPE, plugins.constant("models", model, "INPUTS")
    pairs = [zip(shape, one, strict=True) for one in taken if len(one) == len(shape)]
    if taken and not any(all(size in (own, None) for own, size in both) for both in pairs):
        listed = " or ".join(map(_shape, taken))
        bound = f"those of {dataset} are {_shape(shape)}"
        yield f"config: model {model} takes inputs {listed}", bound


def _shape(sizes: tuple[int | None, ...]) -> str:
    return " x ".join("any" if size is None else str(size) for size in sizes)


def _owner_errors(use: Use) -> Iterator[Mistake]:
    """Compare a federation by natural clients with those that the data set has."""
    clients, split = use.federation["clients"], use.federation["partition"]
    if assignment.divides(use.config["partitions"][split]["uses"]) != "owners":
        return
    dataset, beside = use.study["dataset"], f"with partitions.{split}"
    owners = plugins.constant("data", dataset, "CLIENTS", 0)
    if clients > owners:
        bound = f"expected at most {owners}, the natural clients of {dataset}"
        yield f"config: {use.where}.clients = {clients} {beside}", bound


def _unpriceable(delta: float, accountant: str, uses: list[Use]) -> Iterator[str]:
    """Find federations, each once, whose steps or budgets the accountant cannot price."""
    poisson = [use for use in uses if use.federation.get("sampling", "poisson") == "poisson"]
    spent = dict.fromkeys((use.where, *_spent(use), use.least) for use in poisson)
    told: dict[str, str] = {}
    for where, rate, steps, least in sorted(spent, key=itemgetter(2), reverse=True):
        for line in _price_errors(where, rate, steps, least, delta, accountant):
            told.setdefault(where, line)
    yield from told.values()


def _spent(use: Use) -> tuple[float, int]:
    """Return sampling rate and steps of the one who spends most, as far as sizes are known."""
    federation, clients = use.federation, use.federation["clients"]
    if use.unit == "client":
        return (federation["clients_per_round"] or clients) / clients, federation["rounds"]
    size, batch = use.examples // clients, federation["batch_size"]
    steps = local_steps(size, batch, federation["local_epochs"], federation["local_steps"])
    return batch / size, federation["rounds"] * steps


def _price_errors(
    where: str, rate: float, steps: int, least: float | None, delta: float, accountant: str
) -> Iterator[str]:
    """Price the steps with so much noise that nothing could be learned; imports the accountant."""
    chosen, package = f"config: accountant = {accountant}", "privacy/accountants"
    able = [n for n in plugins.names(package) if plugins.constant(package, n, "SAMPLED", True)]
    if steps > MOST_STEPS:
        yield f"config: {where} takes {steps} steps, expected at most {MOST_STEPS}"
    elif least is not None and rate < 1 and accountant not in able:
        told = f"which prices no sampled batches, as {where} draws them"
        yield f"{chosen}, {told}; expected one of {', '.join(able)}"
    elif least is not None and (accountant != CERTIFICATE or least < PLAIN):
        from dpfl.privacy import accounting

        try:
            cheapest = accounting.epsilon(rate, MOST_NOISE, steps, delta, accountant)
        except UserError as error:
            yield f"{chosen}: {error}"
            return
        if cheapest > least:
            told = f"prices the {steps} steps of {where} at {cheapest:.3g} or more"
            yield f"{chosen} {told}, epsilon is {least:g}"
